"""What compilers keep is copied into a session's own folder: nothing a session writes there is seen by another."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.build.settings import CudaPythonSettings, CudaSettings
from audit.measure import prepared


def test_only_files_and_folders_are_copied(tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "inner").mkdir(parents=True)
    (source / "inner/code").write_text("kept")
    (tmp_path / "secret").write_text("token")
    (source / "link").symlink_to(tmp_path / "secret")
    (source / "folder").symlink_to(tmp_path)
    prepared.copy_files(source, tmp_path / "target")
    copied = sorted(path.relative_to(tmp_path / "target").as_posix() for path in (tmp_path / "target").rglob("*"))
    assert copied == ["inner", "inner/code"]
    prepared.copy_files(tmp_path / "absent", tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


def test_the_files_of_a_triton_kernel_are_those_of_the_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = pytest.importorskip("triton.runtime.cache").FileCacheManager
    source, target = tmp_path / "source", tmp_path / "target"
    monkeypatch.setenv("TRITON_CACHE_DIR", str(source))
    whole = cache("abc")
    whole.put_group("k.json", {name: whole.put(b"code", name) for name in ("k.json", "k.ptx")})
    prepared.copy_files(source, target)
    monkeypatch.setenv("TRITON_CACHE_DIR", str(target))
    assert cache("abc").get_group("k.json") == {name: str(target / "abc" / name) for name in ("k.json", "k.ptx")}


def test_a_session_gets_what_is_stored_and_cannot_change_it(tmp_path: Path) -> None:
    first, second, store = tmp_path / "first", tmp_path / "second", tmp_path / "store"
    first.mkdir()
    second.mkdir()
    (prepared.load_cache(store, first) / "code").write_text("made")
    prepared.store_cache(first, store)
    own = prepared.load_cache(store, second) / "code"
    assert own.read_text() == "made"
    own.write_text("spoiled")
    assert (store / prepared.INDUCTOR / "code").read_text() == "made"


def test_a_variants_own_caches_are_replaced_by_copies(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "kernel").write_text("made")
    environment = {"TRITON_CACHE_DIR": str(kept), "PATH": "/usr/bin"}
    settings = CudaPythonSettings(
        python=tmp_path,
        init_inputs=[],
        folder=None,
        extensions=None,
        environment=environment,
        memory="plain",
        digests={},
    )
    own = prepared.with_private_caches("claimed", settings, tmp_path / "caches")
    assert isinstance(own, CudaPythonSettings)
    result = own.environment
    assert result["PATH"] == "/usr/bin" and result["TRITON_CACHE_DIR"] != str(kept)
    assert (Path(result["TRITON_CACHE_DIR"]) / "kernel").read_text() == "made"
    compiled = CudaSettings(library=tmp_path, module="m", memory="plain", digests={})
    assert prepared.with_private_caches("a", compiled, tmp_path) is compiled


def test_a_fresh_process_gets_folders_that_go_with_its_session(tmp_path: Path) -> None:
    with prepared.session_folders(tmp_path) as (results, caches):
        assert results.is_dir() and caches.is_dir() and results != caches
    with pytest.raises(StopIteration):
        next(tmp_path.iterdir())
