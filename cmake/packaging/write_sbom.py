#!/usr/bin/env python3
"""Writes what a static executable consists of, as SPDX 2.3 in JSON.

    cmake/packaging/write_sbom.py build/static ncclog-1.0.0-linux-x86_64 bin/ncclog >ncclog.spdx.json

Two things say what is in it: the linker's map names the archives of which a member was taken, and
the compiler's lists of headers name the libraries that consist of these. dpkg names the package of
each, those of a cross build in the database of its root (cmake/packaging/arm64_root.sh).
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import subprocess
import urllib.parse


def linked_archives(build):
    """libre2.a of "/usr/lib/…/libre2.a(re2.cc.o)": what stands before the map's next chapter."""
    for line in (build / "ncclog.map").read_text(errors="replace").splitlines():
        if line.startswith("Discarded input sections"):
            return
        if found := re.match(r"(\S+\.a)\(", line):
            yield found[1]


def included_headers(build):
    listed = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, text=True,
                            capture_output=True).stdout
    return {line.strip() for line in listed.splitlines() if line.startswith("    ")}


def packages_of(files, admin):
    """Package by file, of those that dpkg knows."""
    known = {}
    for begin in range(0, len(files), 500):
        answer = subprocess.run(["dpkg-query", f"--admindir={admin}", "-S", *files[begin:begin + 500]],
                                text=True, capture_output=True)  # Fails where one is unknown.
        for line in answer.stdout.splitlines():
            package, _, file = line.partition(": ")
            known[file] = package.split(",")[0]
    return known


def licences(root, package):
    """The names that a machine-readable copyright file gives; none where it is plain text."""
    file = root / "usr/share/doc" / package.split(":")[0] / "copyright"
    text = file.read_text(errors="replace") if file.exists() else ""
    return sorted(set(re.findall(r"^License: *(\S.*?) *$", text, re.MULTILINE)))


def described(root, admin, package, is_linked):
    name, version, architecture, source, source_version = subprocess.run(
        ["dpkg-query", f"--admindir={admin}", "-W", "-f",
         "${Package}\t${Version}\t${Architecture}\t${source:Package}\t${source:Version}", package],
        check=True, text=True, capture_output=True).stdout.split("\t")
    quoted = urllib.parse.quote
    entry = {
        "name": name,
        "SPDXID": f"SPDXRef-Package-{re.sub('[^A-Za-z0-9.-]', '-', name)}",
        "versionInfo": version,
        "supplier": "Organization: Debian",
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": "NOASSERTION",
        "copyrightText": "NOASSERTION",
        "sourceInfo": f"built from Debian's source package {source} {source_version}",
        "comment": "linked from an archive" if is_linked else "compiled from its headers",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator": f"pkg:deb/debian/{quoted(name, safe='')}@{quoted(version, safe='')}"
                                f"?arch={architecture}&distro=debian-12&upstream={quoted(source, safe='')}"}],
    }
    if names := licences(root, name):
        entry["licenseComments"] = "Debian's copyright file names: " + "; ".join(names)
    return entry


def libraries(build):
    """What Debian packages the executable is made of, by name."""
    cross = build.parent / "arm64"
    here = pathlib.Path("/")
    is_linked = {"host": {}, "cross": {}}  # Path within the root: is it an archive?
    for file, linked in [(f, False) for f in included_headers(build)] + [
            (f, True) for f in linked_archives(build)]:
        path = (build / file).resolve()
        if path.is_relative_to(cross.resolve()):
            is_linked["cross"]["/" + str(path.relative_to(cross.resolve()))] = linked
        elif not path.is_relative_to(build.parent.parent):
            is_linked["host"][str(path)] = linked
    found = {}
    for files, root in ((is_linked["host"], here), (is_linked["cross"], cross)):
        admin = root / "var/lib/dpkg"
        known = packages_of(sorted(files), admin) if files else {}
        if missing := sorted(file for file, linked in files.items() if linked and file not in known):
            raise SystemExit(f"write_sbom: of no package: {' '.join(missing)}")
        for package in sorted(set(known.values())):
            linked = any(files[file] for file, owner in known.items() if owner == package)
            entry = described(root, admin, package, linked)
            found[entry["name"]] = entry
    return [found[name] for name in sorted(found)]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("name")
    parser.add_argument("executable", type=pathlib.Path)
    arguments = parser.parse_args()
    facts = dict(line.split("=", 1)
                 for line in (arguments.build / "package.env").read_text().splitlines())
    content = arguments.executable.read_bytes()
    entries = libraries(arguments.build)
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-ncclog"),
                 ("SPDXRef-ncclog", "CONTAINS", "SPDXRef-executable")]
    relations += [("SPDXRef-executable", "STATIC_LINK", entry["SPDXID"]) for entry in entries]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": arguments.name,
        "documentNamespace": f"https://ncclog.invalid/spdx/{arguments.name}-"
                             f"{hashlib.sha256(content).hexdigest()[:16]}",
        "creationInfo": {
            "created": datetime.datetime.fromtimestamp(
                int(facts["epoch"]), datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: ncclog-write_sbom"]},
        "packages": [{
            "name": "ncclog",
            "SPDXID": "SPDXRef-ncclog",
            "versionInfo": facts["version"],
            "downloadLocation": "NOASSERTION",
            "filesAnalyzed": False,
            "licenseConcluded": "NOASSERTION",
            "licenseDeclared": "NOASSERTION",
            "copyrightText": "NOASSERTION",
            "primaryPackagePurpose": "APPLICATION"}, *entries],
        "files": [{
            "fileName": "./bin/ncclog",
            "SPDXID": "SPDXRef-executable",
            "fileTypes": ["BINARY"],
            "checksums": [{"algorithm": kind.upper(), "checksumValue": hashlib.new(kind, content).hexdigest()}
                          for kind in ("sha1", "sha256")],
            "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION"}],
        "relationships": [
            {"spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to}
            for of, kind, to in relations],
    }
    print(json.dumps(document, indent=1, ensure_ascii=False))


main()
