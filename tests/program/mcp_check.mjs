// Does the protocol's own client understand `ncclog mcp`?
//
//   node tests/program/mcp_check.mjs build/release/ncclog sample_logs/timeout-rank-skips/logs
//
// Needs @modelcontextprotocol/sdk; `./dev mcp-check` installs it into build/mcp.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(process.cwd() + "/");
const load = (part) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/client/${part}`)));
const { Client } = await load("index.js");
const { StdioClientTransport } = await load("stdio.js");

const [ncclog, logs] = process.argv.slice(2);
const client = new Client({ name: "mcp-check", version: "1" });
await client.connect(new StdioClientTransport({ command: ncclog, args: ["mcp"] }));
assert.match(client.getInstructions(), /is not clean/);

const { tools } = await client.listTools();
console.log(`${tools.length} tools: ${tools.map((tool) => tool.name).join(", ")}`);
for (const tool of tools) assert.equal(tool.annotations.readOnlyHint, true, tool.name);

const call = (name, args) => client.callTool({ name, arguments: args });
const typed = execFileSync(ncclog, ["analyze", "--fail-on", "never", logs], { encoding: "utf8" });
assert.equal((await call("analyze", { paths: [logs] })).content[0].text, typed);
const report = JSON.parse((await call("analyze", { paths: [logs], format: "json" })).content[0].text);
console.log(`analyze: ${report.verdict.status ?? report.verdict}`);
assert.equal((await call("analyze", { paths: ["/no/such/folder"] })).isError, true);
for (const [name, args] of [["run", {}], ["analyze", { paths: ["-"] }], ["analyze", { html: "/tmp/x" }]])
  await assert.rejects(call(name, args), /-32602/, name);
assert.deepEqual(await client.ping(), {});
await client.close();
console.log("mcp-check: as the protocol has it");
