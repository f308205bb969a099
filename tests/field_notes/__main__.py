"""``python -m tests.field_notes``: write docs/reference/faults.md anew."""

from tests.field_notes.page import PAGE, ROOT, rendered

PAGE.parent.mkdir(parents=True, exist_ok=True)
PAGE.write_text(rendered(), encoding="utf-8")
print(f"{PAGE.relative_to(ROOT)} is up to date")
