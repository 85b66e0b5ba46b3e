"""A kind of cluster is one package with capabilities, and nothing else knows which kinds there are."""

from __future__ import annotations

import ast
import configparser
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from aclweb.acl.model import AclBinding, AuthorizerSettings, Delta, NotationError
from aclweb.acl.notation import read_acl_file
from aclweb.changes import policy
from aclweb.changes.notes import own_principal
from aclweb.changes.preview import preview
from aclweb.clusters import (
    KINDS,
    AclSnapshot,
    ClusterError,
    ClusterFacts,
    ClusterKind,
    ClusterState,
    Connection,
    Earlier,
    Known,
    NamesKnown,
    ReadOnlyClient,
    TopicInfo,
    connect,
    kind_named,
    why_no_broker_holds,
)
from aclweb.clusters.connection import check_options
from aclweb.inventory.current import broker_settings, connection_of, in_force
from aclweb.inventory.models import Cluster
from aclweb.inventory.sync.run import sync
from tests.builders import allow

ROOT = Path(__file__).resolve().parents[2]
# The package, or module, of each kind.
PACKAGES = {name: ".".join(kind.open.__module__.split(".")[:3]) for name, kind in KINDS.items()}
# Where a kind may be named: its own package, the registry, and what was migrated once.
_OWN = re.compile(
    "|".join(
        [r"aclweb/clusters/__init__\.py", r"aclweb/\w+/migrations/"]
        + [rf"{package.replace('.', '/')}(\.py|/)" for package in PACKAGES.values()]
    )
)
# Files in which the word is no kind of cluster but a snapshot in the sense of the glossary.
_ANOTHER_SENSE = {
    # A key of the pipeline's manifests.
    *(
        (f"aclweb/pipeline/{job}.py", "snapshot")
        for job in ("manifest", "replay", "anomalies", "compare", "disagreement")
    ),
    *(
        (f"aclweb/pipeline/{job}.py", "snapshot")
        for job in ("least_privilege", "load_bearing", "matrix", "refusals")
    ),
    ("aclweb/insights/load.py", "snapshot"),  # the same key
    ("aclweb/inventory/management/commands/export.py", "snapshot"),  # a format
}
READS_ORDERS = allow("User:bob", "READ", "orders")
WRITES_ORDERS = allow("User:app", "WRITE", "orders")


# --- nobody else names a kind -------------------------------------------------------------


def named_in_code(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the kind wherever Python code holds a kind's name as a text."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and node.value in KINDS:
            yield node.lineno, str(node.value)


def named_in_template(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the kind wherever a tag or variable of a template holds a kind's name as a text."""
    names = "|".join(map(re.escape, KINDS))
    for number, line in enumerate(text.splitlines(), 1):
        for tag in re.findall(r"\{[%{].*?[%}]\}", line):
            yield from ((number, name) for name in re.findall(rf"""["']({names})["']""", tag))


def test_no_code_names_a_kind_outside_of_its_package():
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "aclweb").rglob("*.py")]
    found = [
        f"{file}:{line}: {name}"
        for file in sorted(files)
        if not _OWN.match(file)
        for line, name in named_in_code((ROOT / file).read_text(encoding="utf-8"))
        if (file, name) not in _ANOTHER_SENSE
    ]

    assert len(files) > 300
    assert found == []


def test_no_template_names_a_kind():
    pages = sorted((ROOT / "templates").rglob("*.html"))
    found = [
        f"{page.name}:{line}: {name}"
        for page in pages
        for line, name in named_in_template(page.read_text(encoding="utf-8"))
    ]

    assert len(pages) > 50
    assert found == []


@pytest.mark.parametrize("package", PACKAGES.values(), ids=PACKAGES)
def test_only_the_registry_may_import_the_package_of_a_kind(package):
    contracts = configparser.ConfigParser()
    contracts.read(ROOT / ".importlinter")

    assert package in contracts["importlinter:contract:kinds"]["protected_modules"].split()


@pytest.mark.parametrize("name", KINDS)
def test_naming_a_kind_is_noticed_in_code_and_in_templates(name):
    assert list(named_in_code(f'"""About {name}."""\nif cluster.kind == "{name}":\n    pass\n')) == [
        (2, name)
    ]
    assert list(named_in_template(f'<p>\n{{% if cluster.kind == "{name}" %}}')) == [(2, name)]


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_the_name_of_a_kind_fits_the_database_and_a_command_line(kind):
    assert re.fullmatch(r"[a-z][a-z0-9-]*", kind.name)
    assert len(kind.name) <= Cluster._meta.get_field("kind").max_length


@pytest.mark.parametrize("name", KINDS)
def test_the_readme_tells_how_to_add_a_cluster_of_each_kind(name):
    readme = (ROOT / "README.md").read_text(encoding="utf-8")

    assert re.search(rf"^\|[^|]*\| `{name}` \|", readme, re.MULTILINE)


# --- a fourth kind, which only this file knows ---------------------------------------------


class FolderClient(ReadOnlyClient):
    """A folder of files with ACLs as JSON lines, such as a checked-out Git repository holds."""

    def __init__(self, connection: Connection) -> None:
        check_options(connection.kind, connection.options)
        self._folder = Path(connection.address)
        self.where = f"the folder {self._folder}"
        if not self._folder.is_dir():
            raise ClusterError(f"There is no folder {self._folder}.", state=ClusterState.UNREACHABLE)

    def describe(self) -> ClusterFacts:
        return ClusterFacts(cluster_id=self._folder.name)

    def read_acls(self, earlier: Earlier | None = None) -> AclSnapshot:
        files = sorted(self._folder.glob("*.jsonl"))
        if not files:
            # A checkout that went wrong is empty too, and must not look like a cluster without ACLs.
            raise ClusterError(
                f"{self._folder} has no file that ends in .jsonl; check that it is the right folder.",
                state=ClusterState.UNREADABLE,
            )
        bindings: list[AclBinding] = []
        for file in files:
            try:
                bindings += read_acl_file(
                    self._text(file), source=str(file), refuse=why_no_broker_holds
                ).bindings
            except NotationError as error:
                raise ClusterError(str(error), state=ClusterState.UNREADABLE) from error
        return AclSnapshot(tuple(dict.fromkeys(bindings)))

    def read_topics(self, earlier: Earlier | None = None) -> tuple[TopicInfo, ...]:
        return tuple(TopicInfo(name) for name in self._text(self._folder / "topics").split())

    def _text(self, file: Path) -> str:
        try:
            return file.read_text()
        except (OSError, UnicodeDecodeError) as error:
            raise ClusterError(f"{file} cannot be read: {error}.", state=ClusterState.UNREADABLE) from error

    def read_groups(self) -> None:
        return None

    def names_known(self, acls: AclSnapshot, authorizer_settings: AuthorizerSettings) -> NamesKnown:
        return NamesKnown(Known.VISIBLE, Known.UNKNOWN, lambda _type, _name: True)


FOLDER = ClusterKind(
    name="folder",
    source="a folder of files",
    called="the folder",
    address_form="the folder's path",
    open=FolderClient,
    normalised=lambda address: str(Path(address).resolve()),
    options={"client.id": "who reads it"},
    is_copy=True,
)


@pytest.fixture
def folder(monkeypatch, tmp_path) -> Path:
    monkeypatch.setitem(KINDS, FOLDER.name, FOLDER)
    found = tmp_path / "acls"
    found.mkdir()
    (found / "orders.jsonl").write_text(json.dumps(READS_ORDERS.as_dict()) + "\n")
    (found / "stock.jsonl").write_text(json.dumps(WRITES_ORDERS.as_dict()) + "\n")
    (found / "topics").write_text("orders stock\n")
    return found


@pytest.fixture
def known(db, folder) -> Cluster:
    """The folder, made known and read."""
    call_command("cluster", "add", "repo", "--kind", "folder", "--address", str(folder))
    cluster = Cluster.objects.get()
    assert sync(cluster).read
    return cluster


def test_a_new_kind_is_registered_with_its_address_in_full(db, folder, monkeypatch, capsys):
    monkeypatch.chdir(folder.parent)

    call_command("cluster", "add", "repo", "--kind", "folder", "--address", "acls")

    cluster = Cluster.objects.get()
    assert (cluster.kind, cluster.address, cluster.authorizer) == ("folder", str(folder), "standard")
    assert "repo is known now" in capsys.readouterr().out
    assert Cluster._meta.get_field("kind").clean("folder", cluster) == "folder"


def test_a_new_kind_needs_no_migration(db, folder):
    call_command("makemigrations", "inventory", "--check", "--dry-run")


def test_a_kind_that_nobody_has_is_refused_with_those_that_there_are(db, folder):
    with pytest.raises(CommandError, match=r"invalid choice: 'nfs'.*'folder'"):
        call_command("cluster", "add", "repo", "--kind", "nfs", "--address", str(folder))


def test_the_options_of_a_new_kind_are_checked(db, folder, tmp_path):
    options = tmp_path / "options"
    options.write_text("client.id=aclweb\nsasl.username=bob\n")

    with pytest.raises(CommandError, match=r"'sasl\.username' is refused: aclweb knows only client\.id"):
        call_command(
            "cluster", "add", "repo", "--kind", "folder", "--address", str(folder), "--options", str(options)
        )


def test_a_new_kind_is_checked_without_any_line_about_servers(known, capsys):
    capsys.readouterr()

    call_command("cluster", "check", "repo", "--json")

    told = json.loads(capsys.readouterr().out)
    assert (told["ok"], told["acls"], told["topics"], told["groups"]) == (True, 2, 2, None)
    assert [right["right"] for right in told["rights"]] == [
        "reach", "log in", "cluster id", "Describe", "topics", "groups", "version", "authorizer",
    ]  # fmt: skip
    assert told["rights"][0]["sentence"] == f"The folder at {known.address} answers."
    assert told["rights"][4]["sentence"] == "The folder lists 2 topics; there may be others."
    assert "topics: 2 (only those that the folder lists)" in told["sentence"]
    assert not any(right["command"] for right in told["rights"])


def test_a_new_kind_is_synced_and_its_changes_are_revisions(known):
    assert set(in_force(known).index) == {READS_ORDERS, WRITES_ORDERS}

    (Path(known.address) / "stock.jsonl").unlink()
    assert sync(known).changed

    assert set(in_force(known).index) == {READS_ORDERS}
    (Path(known.address) / "orders.jsonl").write_text("")
    assert sync(known).sentence == f"The folder {known.address} was read and has no ACL."


def test_a_folder_that_is_gone_is_an_error_and_keeps_what_was_known(known):
    Path(known.address).rename(Path(known.address).with_name("elsewhere"))

    result = sync(known)

    assert (result.read, result.state) == (False, ClusterState.UNREACHABLE)
    known.refresh_from_db()
    assert set(in_force(known).index) == {READS_ORDERS, WRITES_ORDERS}


@pytest.mark.parametrize(
    ("file", "content", "word"),
    [
        ("*.jsonl", None, "has no file that ends in .jsonl"),
        ("orders.jsonl", "{", "orders.jsonl:1"),
        ("orders.jsonl", json.dumps(READS_ORDERS.as_dict() | {"pattern_type": "GLOB"}), "no broker has"),
    ],
)
def test_what_a_folder_cannot_tell_is_an_error_and_keeps_what_was_known(known, file, content, word):
    for path in Path(known.address).glob(file):
        path.unlink() if content is None else path.write_text(content)

    result = sync(known)

    assert not result.read
    assert word in result.sentence
    assert set(in_force(known).index) == {READS_ORDERS, WRITES_ORDERS}


def test_the_page_of_a_new_kind_tells_what_it_is_read_from(known, signed_in, django_user_model):
    browser = signed_in(django_user_model.objects.create_superuser("root", password="a password for root"))

    page = browser.get("/c/repo/").content.decode()

    assert "<dt>Read from</dt><dd>a folder of files</dd>" in page
    assert "<dt>Changes</dt><dd>given as commands</dd>" in page
    assert "<dt>Authorizer</dt>" not in page
    assert "These are the topics that the folder lists; the cluster may have others." in page
    assert "The folder lists no groups, so which groups exist is unknown." in page
    for address in ("/clusters/", "/c/repo/acls/", "/c/repo/topics/orders", "/api/v1/clusters/repo/"):
        assert browser.get(address).status_code == 200, address


def test_a_change_of_a_kind_that_cannot_be_written_ends_as_commands(known):
    sentence = "repo is read from a folder of files, so an approved change ends as commands to copy."

    assert policy.writable(known) == (False, sentence)
    assert own_principal(known) is None
    assert preview(known, Delta(remove=(READS_ORDERS,))).commands
    with connect(connection_of(known)) as client:
        (outcome,) = client.write("remove", [READS_ORDERS])
    assert outcome.sentence.startswith(f"This cluster is known from the folder {known.address} only")
    with pytest.raises(CommandError, match="known from a folder of files cannot be written to"):
        call_command("cluster", "set", "repo", "--changes", "on")


def test_a_new_kind_shows_no_authorizer_of_its_own(known):
    assert broker_settings.authorizer(known).words.startswith("a folder of files, decided as by Standard")


def test_a_file_cannot_take_the_place_of_a_kind_that_is_not_one_file(known, tmp_path):
    with pytest.raises(CommandError, match="not from a file"):
        call_command("import_acls", "repo", str(tmp_path / "x.jsonl"))


# --- what each kind of aclweb's own says of itself ------------------------------------------


@pytest.mark.parametrize(
    ("kind", "address", "stored"),
    [
        ("admin", " b1:9092, b2:9092", "b1:9092,b2:9092"),
        ("zookeeper", "z1:2181, z2:2181/kafka/", "z1:2181,z2:2181/kafka"),
    ],
)
def test_an_address_is_stored_in_one_form(db, kind, address, stored):
    call_command("cluster", "add", "new", "--kind", kind, "--address", address)

    assert Cluster.objects.get().address == stored


@pytest.mark.parametrize(
    ("kind", "address", "why"),
    [
        ("admin", "b1", "has no broker with a port in 'b1'"),
        ("admin", "b1:9092/kafka", "has no broker with a port"),
        ("zookeeper", "z1:2181/../x", "holds '.' or '..'"),
        ("snapshot", " ", "The address ' ' is none; write a file's path."),
        ("zookeeper", "", "The address '' is none; write host:port,host:port/chroot."),
    ],
)
def test_an_address_of_another_form_is_refused_when_it_is_given(cluster, kind, address, why):
    with pytest.raises(CommandError, match=re.escape(why)):
        call_command("cluster", "add", "new", "--kind", kind, "--address", address)
    assert Cluster.objects.count() == 1

    Cluster.objects.update(kind=kind)
    if address:  # an empty one is as if none were given
        with pytest.raises(CommandError, match=re.escape(why)):
            call_command("cluster", "set", "test-eu", "--address", address)


def test_a_cluster_whose_kind_this_aclweb_lacks_is_shown_and_not_read(cluster, ada, signed_in):
    Cluster.objects.update(kind="carrier")
    cluster.refresh_from_db()

    result = sync(cluster)

    assert (result.read, result.state) == (False, ClusterState.UNREACHABLE)
    assert "This aclweb has no cluster kind 'carrier', only zookeeper, admin, snapshot" in result.sentence
    assert kind_named("carrier").can_write is False
    assert signed_in(ada).get("/c/test-eu/").status_code == 200
