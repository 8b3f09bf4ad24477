// `npm run test:clients`: the end-to-end tests once more, with the newest releases of the official clients and under
// a newer Node, agents at work through the gateway, and public MCP servers behind it. All of them come from the registry, binaries included, and
// are installed into a scratch folder, never into this project.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_PACKAGE, nodeIn } from './other-node.mjs';
import { buildIfNeeded, installIfNeeded, root, run } from './toolchain.mjs';

const CLIENTS = ['openai', '@anthropic-ai/sdk', 'ai', '@ai-sdk/openai', '@ai-sdk/anthropic'];
const AGENTS = [
  '@openai/codex',
  '@anthropic-ai/claude-code',
  '@openai/agents',
  '@openrouter/agent',
  'langchain',
  '@langchain/core',
  '@langchain/openai',
  '@langchain/anthropic',
  'zod',
];
const MCP_SERVERS = [
  '@modelcontextprotocol/sdk',
  '@modelcontextprotocol/server-everything',
  '@modelcontextprotocol/server-filesystem',
];
const NODE_MAJOR = 24;

installIfNeeded();
buildIfNeeded();
const scratch = mkdtempSync(join(tmpdir(), 'signalbox-clients-'));
// A failed run exits on the spot, and the agents are large.
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

writeFileSync(join(scratch, 'package.json'), JSON.stringify({ name: 'clients', private: true }));
const newest = [...CLIENTS, ...AGENTS, ...MCP_SERVERS];
const packages = [`${NODE_PACKAGE}@${NODE_MAJOR}`, ...newest.map((name) => `${name}@latest`)];
run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
  cwd: scratch,
});
for (const name of [NODE_PACKAGE, ...newest]) {
  const manifest = JSON.parse(readFileSync(join(scratch, 'node_modules', name, 'package.json'), 'utf8'));
  console.log(`${name} ${manifest.version}`);
}
run(
  nodeIn(scratch),
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'clients', ...process.argv.slice(2)],
  { env: { ...process.env, SIGNALBOX_CLIENTS: join(scratch, 'node_modules') } },
);
