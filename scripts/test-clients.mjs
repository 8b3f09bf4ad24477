// `npm run test:clients`: the end-to-end tests once more, with the newest releases of the official clients and under
// a newer Node, agents at work through the gateway, and public MCP servers behind it. All of them come from the
// registry, binaries included, and are installed into a scratch folder, never into this project.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NODE_PACKAGE, nodeIn } from './other-node.mjs';
import { buildIfNeeded, installIfNeeded, root, run } from './toolchain.mjs';

const NODE_MAJOR = 24;

/** Nothing is tested without these. */
const NEEDED = [
  'openai',
  '@anthropic-ai/sdk',
  'ai',
  '@ai-sdk/openai',
  '@ai-sdk/anthropic',
  '@modelcontextprotocol/sdk',
  '@modelcontextprotocol/server-everything',
  '@modelcontextprotocol/server-filesystem',
  'zod',
];

/**
 * `langchain` in releases that fit together: the newest ones of its dependencies ask for versions of each other that
 * the registry does not have on every day.
 */
const LANGCHAIN = [
  'langchain@1.5.14',
  '@langchain/core@1.2.13',
  '@langchain/openai@1.6.0',
  '@langchain/anthropic@1.5.11',
  '@langchain/langgraph@1.4.18',
  '@langchain/langgraph-checkpoint@1.1.5',
  '@langchain/langgraph-sdk@1.12.4',
];

/** Agents, each with what it needs. The newest release of one may be impossible to install; the others are tested. */
const AGENTS = [
  ['@openai/codex'],
  ['@anthropic-ai/claude-code'],
  ['opencode-ai'],
  ['@openai/agents'],
  ['@openrouter/agent'],
  LANGCHAIN,
];

/** Name and version of a package. */
const PACKAGE = /^(@?[^@]+)(?:@(.+))?$/;

/** Longest time for one installation. */
const INSTALL_MS = 300_000;

/**
 * Peers are listed above. To choose them itself, npm would read the releases of a package again and again if a
 * dependency of the newest one does not exist.
 */
const FLAGS = ['--legacy-peer-deps', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];

installIfNeeded();
buildIfNeeded();
const scratch = mkdtempSync(join(tmpdir(), 'signalbox-clients-'));
// A failed run exits on the spot, and the agents are large.
process.once('exit', () => rmSync(scratch, { recursive: true, force: true }));

writeFileSync(join(scratch, 'package.json'), JSON.stringify({ name: 'clients', private: true }));
if (!install([`${NODE_PACKAGE}@${NODE_MAJOR}`, ...NEEDED.map(newest)])) process.exit(1);
const installed = AGENTS.filter((packages) => install(packages.map(newest)));
for (const wanted of [NODE_PACKAGE, ...NEEDED, ...installed.flat()]) {
  const [, name] = PACKAGE.exec(wanted);
  const manifest = JSON.parse(readFileSync(join(scratch, 'node_modules', name, 'package.json'), 'utf8'));
  console.log(`${name} ${manifest.version}`);
}
run(
  nodeIn(scratch),
  [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--project', 'clients', ...process.argv.slice(2)],
  { env: { ...process.env, SIGNALBOX_CLIENTS: join(scratch, 'node_modules') } },
);
const missing = AGENTS.filter((packages) => !installed.includes(packages)).map(([name]) => name);
if (missing.length > 0) {
  console.error(`signalbox: not tested, because npm could not install them: ${missing.join(', ')}`);
  process.exitCode = 1;
}

/** The newest release of a package for which no version is given. */
function newest(wanted) {
  const [, name, version = 'latest'] = PACKAGE.exec(wanted);
  return `${name}@${version}`;
}

/** Adds packages to the scratch folder. False: npm failed and has said why, or took too long. */
function install(packages) {
  const { status, error } = spawnSync('npm', ['install', ...FLAGS, ...packages], {
    cwd: scratch,
    stdio: 'inherit',
    timeout: INSTALL_MS,
  });
  if (error) console.error(`signalbox: npm install ${packages.join(' ')}: ${error.message}`);
  return status === 0;
}
