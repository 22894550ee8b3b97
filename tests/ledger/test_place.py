"""Where a ledger may live."""

import os
from pathlib import Path

import pytest

from quincunx.errors import ParameterError, UnavailableError
from quincunx.ledger import Ledger
from quincunx.ledger.sqlite import place
from quincunx.ledger.sqlite.place import NETWORK, located, mounted

TABLE = """\
27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
40 27 0:40 / /home rw,relatime shared:2 - ext4 /dev/vdb rw
41 40 0:41 / /home/share rw,relatime shared:3 master:1 - {kind} server:/export rw
42 40 0:42 / /home/with\\040space rw - nfs4 server:/other rw
43 40 0:43 / /home/twice rw - nfs server:/other rw
44 40 0:43 / /home/twice rw - ext4 /dev/vdc rw
45 40 0:43 /ledger.db /home/bound/ledger.db rw - ext4 /dev/vdd rw
a line that says nothing
"""


@pytest.mark.parametrize(
    ("path", "point", "kind"),
    [
        ("/etc/ledger.db", "/", "ext4"),
        ("/home/ledger.db", "/home", "ext4"),
        ("/home/share/a/ledger.db", "/home/share", "nfs"),
        ("/home/shared/ledger.db", "/home", "ext4"),
        ("/home/with space/ledger.db", "/home/with space", "nfs4"),
        ("/home/twice/ledger.db", "/home/twice", "ext4"),
        ("/home/bound/ledger.db", "/home/bound/ledger.db", "ext4"),
    ],
)
def test_the_nearest_and_last_mount_holds_the_path(path: str, point: str, kind: str) -> None:
    assert mounted(path, TABLE.format(kind="nfs")) == (point, kind)


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "9p", "lustre", "ceph"])
def test_network_file_systems_are_refused(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"1 0 0:1 / {os.path.realpath(tmp_path)} rw - {kind} server:/export rw\n")
    monkeypatch.setattr(place, "_MOUNTS", table)
    assert kind in NETWORK
    with pytest.raises(UnavailableError, match=f"network file system; got {kind}"):
        Ledger.open(tmp_path / "ledger.db")
    assert not (tmp_path / "ledger.db").exists()


def test_a_link_to_a_network_file_system_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    far, near, table = tmp_path / "far", tmp_path / "near", tmp_path / "mountinfo"
    far.mkdir()
    near.symlink_to(far)
    table.write_text(f"1 0 0:1 / / rw - ext4 a rw\n2 1 0:1 / {os.path.realpath(far)} rw - nfs server:/export rw\n")
    monkeypatch.setattr(place, "_MOUNTS", table)
    with pytest.raises(UnavailableError, match="network"):
        located(near / "ledger.db")


def test_a_file_mounted_by_itself_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, table = os.path.realpath(tmp_path / "ledger.db"), tmp_path / "mountinfo"
    table.write_text(f"1 0 0:1 /ledger.db {file} rw - ext4 a rw\n")
    monkeypatch.setattr(place, "_MOUNTS", table)
    with pytest.raises(UnavailableError, match="mount point of its own"):
        located(file)


def test_without_a_table_of_mounts_a_path_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(place, "_MOUNTS", tmp_path / "nowhere")
    assert located(tmp_path / "ledger.db") == os.path.realpath(tmp_path / "ledger.db")


def test_a_missing_folder_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError, match="the folder does not exist"):
        Ledger.open(tmp_path / "nowhere" / "ledger.db")
    with pytest.raises(UnavailableError, match="this is not a file"):
        Ledger.open(tmp_path)


@pytest.mark.parametrize("path", ["", "a\0b", None, 3, b"ledger.db"])
def test_there_is_no_default_place(path: object) -> None:
    with pytest.raises(ParameterError, match="ledger: "):
        Ledger.open(path)  # type: ignore[arg-type]


def test_a_second_name_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two hard links would have two logs, and the budget could be spent in each."""
    monkeypatch.setattr(place, "_CREATION", 0.05)
    Ledger.open(tmp_path / "ledger.db").close()
    os.link(tmp_path / "ledger.db", tmp_path / "other.db")
    for name in ("ledger.db", "other.db"):
        with pytest.raises(UnavailableError, match="two names"):
            Ledger.open(tmp_path / name)


def test_a_symbolic_link_is_the_same_ledger(tmp_path: Path) -> None:
    with Ledger.open(tmp_path / "ledger.db") as ledger:
        (tmp_path / "link.db").symlink_to(tmp_path / "ledger.db")
        with Ledger.open(tmp_path / "link.db") as other:
            assert other.path == ledger.path
