#!/usr/bin/env python3
"""Does an SBOM describe an executable? check_sbom.py ncclog.spdx.json bin/ncclog"""

import hashlib
import json
import sys

with open(sys.argv[1]) as file:
    sbom = json.load(file)
versions = {entry["name"]: entry["versionInfo"] for entry in sbom["packages"]}
for name in ("libre2-dev", "libvectorscan-dev", "libarchive-dev", "nlohmann-json3-dev", "libfmt-dev",
             "libjemalloc-dev", "ncclog"):
    assert versions[name], name

identifiers = [entry["SPDXID"] for entry in (sbom, *sbom["packages"], *sbom["files"])]
assert len(set(identifiers)) == len(identifiers), "one identifier twice"
for relation in sbom["relationships"]:
    assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= set(identifiers), relation

sums = {entry["algorithm"]: entry["checksumValue"] for entry in sbom["files"][0]["checksums"]}
with open(sys.argv[2], "rb") as file:
    assert sums["SHA256"] == hashlib.sha256(file.read()).hexdigest(), "another executable"
