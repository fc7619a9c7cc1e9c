"""What README says of commands, words and files; ``test_package.py`` runs its commands."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(title: str, language: str) -> list[str]:
    """The code blocks of a section."""
    section = TEXT.split(f"\n## {title}\n")[1].split("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def commands(title: str) -> list[str]:
    """The commands of a section's only block of commands, continued lines joined."""
    (block,) = blocks(title, "sh")
    return [line.strip() for line in block.replace("\\\n", " ").splitlines() if line.strip()]


def test_every_command_of_the_page_exists():
    """Also those in the text: an option that is renamed has to be renamed here."""
    from uanet_tf.commands.uanet import COMMANDS

    used = {
        line.split()[0] for line in re.findall(r"(?:^|`|[|] )uanet ([a-z_ ]+)", TEXT, re.MULTILINE)
    }
    assert used >= {"demo", "tag", "check", "train", "evaluate", "export", "serve", "client"}
    assert used <= set(COMMANDS)


def test_every_link_leads_to_a_file():
    links = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", TEXT)
    assert len(links) > 15
    assert [link for link in links if "://" not in link and not (ROOT / link).exists()] == []
