import { readdirSync, readFileSync } from "node:fs";
import js from "@eslint/js";
import globals from "globals";

const FOLDER = "selfattn/dashboard/components";
const ENTRY = /export default/;

// A component's files become one module, so a file may use the functions and classes of another file.
const texts = Object.fromEntries(
  readdirSync(FOLDER)
    .filter((name) => name.endsWith(".js"))
    .map((name) => [`${FOLDER}/${name}`, readFileSync(`${FOLDER}/${name}`, "utf8")]),
);
const isEntry = (path) => ENTRY.test(texts[path]);
const paths = Object.keys(texts);
const shared = paths.flatMap((path) =>
  [...texts[path].matchAll(/^(?:function|const|class) (\w+)/gm)].map((found) => found[1]),
);

export default [
  js.configs.recommended,
  {
    files: ["**/*.js"],
    rules: {
      eqeqeq: "error",
      "no-eval": "error",
      "no-implied-eval": "error",
      "no-new-func": "error",
      "prefer-const": "error",
    },
  },
  {
    files: [`${FOLDER}/*.js`],
    languageOptions: {
      globals: { ...globals.browser, ...Object.fromEntries(shared.map((name) => [name, "readonly"])) },
    },
    rules: {
      "no-redeclare": "off",
      "no-restricted-properties": [
        "error",
        ...["innerHTML", "outerHTML", "insertAdjacentHTML"].map((property) => ({
          property,
          message: "Set textContent instead: HTML could run code.",
        })),
      ],
    },
  },
  ...(paths.every(isEntry)
    ? []
    : [
        {
          files: paths.filter((path) => !isEntry(path)),
          languageOptions: { sourceType: "script" },
          rules: { "no-unused-vars": ["error", { vars: "local" }] },
        },
      ]),
];
