"""Definitions of the field's terms, one sentence each, for every page; a term is bold only in its definition."""

TERMS = {
    "token": "A **token** is a word, or a piece of one, as an encoder reads it; [CLS] and [SEP] mark the sentence's ends.",
    "encoder": "An **encoder** is a trained network that gives each word of a sentence, or piece of one, a vector.",
    "embedding": "Each word starts as an **embedding**: a row of numbers, the same in every sentence.",
    "query": "A **query** is what a word looks for.",
    "key": "A **key** is what a word is filed under: queries are compared with it.",
    "value": "A **value** is what a word hands over.",
    "projection": "A **projection** is a learned matrix that makes queries, keys or values of vectors.",
    "dot product": "The **dot product** of two rows of numbers: multiply them number by number and add up.",
    "score": "A **score** says how well a key fits a query: it is their dot product.",
    "cosine": "The **cosine** of two vectors: 1 where they point the same way, 0 at a right angle, −1 where they point apart.",
    "softmax": "**Softmax** makes shares of scores: raise e to each, so that all are positive, then divide by their sum.",
    "weight": "A **weight** is the share of its attention that a word gives another: a word's weights sum to 1.",
    "mask": "A **mask** says which words may be attended to: the others get weight 0.",
    "context": "Every value times its weight, added up, is the **context**: what a word takes home from its sentence.",
    "head": "A **head** is one of a layer's attention computations, with its own queries, keys and values; heads count from 0.",
    "layer": "A **layer** is one step of an encoder, several attention computations side by side; layers count from 0.",
    "residual": "The blend doesn't replace the word's own vector, it is added to it: such an adding is called **residual**.",
    "hidden state": "A **hidden state** is a token's vector between two layers.",
}
