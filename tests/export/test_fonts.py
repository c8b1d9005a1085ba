"""Characters that the fonts can't draw are named with the package that has them."""

import unicodedata

from selfattn.export import fonts


def test_plain_text_needs_no_notice():
    assert fonts.notice(["The", "##ing", "déjà", "Ωμέγα"]) == ""


def test_a_character_that_no_font_has_is_found_and_said_to_have_no_package():
    assert fonts.undrawable("a\ue000b") == {"\ue000"}
    assert fonts.notice(["ok", "a\ue000b"]).endswith("a\ue000b (no font has them: for private use, or not assigned)")


def test_the_package_follows_the_script(monkeypatch):
    monkeypatch.setattr(fonts, "_drawn", lambda character: unicodedata.category(character) == "Lu")
    said = fonts.notice(["中文", "ひら", "한국", "😀", "กข", "中文"])
    assert "ひら, 한국" in said
    assert said.count("中文") == 1
    assert {line.split(" (Debian package: ")[1] for line in said.splitlines()[1:]} == {
        "fonts-noto-cjk)",
        "fonts-noto-color-emoji)",
        "fonts-noto-core)",
    }


def test_what_is_left_without_ink_is_not_taken_for_missing():
    assert fonts.undrawable("\u200b\u200d\u3000 ") <= {"\u3000"}  # no font needs a glyph for these but the wide space
