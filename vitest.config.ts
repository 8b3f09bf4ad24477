import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { defineConfig, type Plugin } from 'vitest/config';
// @ts-expect-error: a script, without types.
import { compiledSources } from './scripts/compiled-sources.mjs';
// @ts-expect-error: a script, without types.
import { compileIfNeeded } from './scripts/toolchain.mjs';
import { memoryDirectory } from './test/kit/memory-directory.ts';

const ROOT = import.meta.dirname;
const SOURCES = join(ROOT, 'src/');
const COMPILED = join(ROOT, 'build/');

/**
 * Sources name the programs of their threads as they are called once compiled, so these have to be compiled: a thread
 * has no vite.
 */
const compiledThreads: Plugin = {
  name: 'compiled-threads',
  enforce: 'pre',
  transform(code, id) {
    if (!id.startsWith(SOURCES) || !code.includes('-main.js')) return undefined;
    const folder = pathToFileURL(join(COMPILED, relative(SOURCES, dirname(id)), '/'));
    return code.replaceAll(/(?<=new URL\('\.\/[\w-]+-main\.js', )import\.meta\.url/g, `'${folder}'`);
  },
};

/** Node imports the compiled modules itself. */
const server = { deps: { external: [/\/build\//] } };

if (!existsSync(join(COMPILED, 'kit/thread'))) compileIfNeeded();

const plugins = [process.env.SIGNALBOX_COMPILED === undefined ? compiledThreads : compiledSources];

/** Where `npm run test:clients` put the newest releases of the official clients. */
const newestClients = process.env.SIGNALBOX_CLIENTS;

const CLIENTS = ['openai', '@anthropic-ai/sdk', 'ai', '@ai-sdk/openai', '@ai-sdk/anthropic'];

const alias =
  newestClients === undefined
    ? []
    : CLIENTS.map((name) => ({
        find: new RegExp(`^${name}(?=/|$)`),
        replacement: join(newestClients, name),
      }));

/**
 * The longest tests take 10 s on an idle machine with two cores, seven times that with many random cases, and many
 * times as long on a busy one.
 */
const LIMIT_MS = process.env.SIGNALBOX_MANY_RUNS === undefined ? 120_000 : 900_000;

/**
 * What a test waits for comes as soon as the machine has time for it, so calls of `expect.poll` have no limit of their
 * own. This one is below that of a test: a test that ends first says "timed out", and not what was waited for.
 */
const expect = { poll: { timeout: (LIMIT_MS * 3) / 4 } };

export default defineConfig({
  test: {
    // Many tests wait for processes, disks and clocks: one worker a core leaves the cores idle a part of the time.
    maxWorkers: availableParallelism() * 2,
    globalSetup: ['test/kit/run-directory.ts'],
    projects: [
      {
        plugins,
        test: {
          name: 'suite',
          server,
          expect,
          env: { TMPDIR: memoryDirectory() },
          include: ['src/**/*.test.ts', 'console/src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: [
            'test/program/faults/long/**',
            'test/laws/fuzz/long/**',
            'test/features/clients/**',
            'test/adapters/servers/**',
            'test/program/process/**',
            'test/features/console/**',
            'test/laws/types/**',
          ],
          testTimeout: LIMIT_MS,
          hookTimeout: LIMIT_MS,
          // No module has a state of its own, so files can share what was imported: that is most of the time otherwise.
          isolate: false,
        },
      },
      {
        plugins,
        resolve: { alias },
        test: {
          name: 'clients',
          server,
          expect,
          include: [
            'test/features/dialects/{openai,anthropic,ai-sdk}.test.ts',
            'test/features/tools/{ai-sdk-tools,ai-sdk-pages,loop-clients}.test.ts',
            'test/features/mcp/{ai-sdk,messages}.test.ts',
            'test/features/clients/**/*.test.ts',
          ],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      {
        plugins,
        test: {
          name: 'types',
          server,
          env: { TMPDIR: memoryDirectory() },
          include: ['test/laws/types/**/*.test.ts'],
          testTimeout: LIMIT_MS,
          // One hook sends all requests: minutes on an idle machine, an hour on a very busy one.
          hookTimeout: 3_600_000,
        },
      },
      {
        plugins,
        test: {
          name: 'servers',
          server,
          expect,
          env: { TMPDIR: memoryDirectory() },
          include: ['test/adapters/servers/**/*.test.ts'],
          testTimeout: LIMIT_MS,
          hookTimeout: LIMIT_MS,
          isolate: false,
        },
      },
      {
        plugins,
        test: {
          name: 'program',
          server,
          expect,
          include: ['test/program/process/**/*.test.ts'],
          testTimeout: LIMIT_MS,
          hookTimeout: LIMIT_MS,
          isolate: false,
        },
      },
      {
        plugins,
        test: {
          name: 'console',
          server,
          expect,
          include: ['test/features/console/**/*.test.ts'],
          testTimeout: LIMIT_MS,
          hookTimeout: LIMIT_MS,
          isolate: false,
        },
      },
      {
        plugins,
        test: {
          name: 'faults',
          server,
          expect,
          include: ['test/program/faults/long/**/*.test.ts'],
          testTimeout: 600_000,
          hookTimeout: 120_000,
        },
      },
      {
        plugins,
        test: { name: 'fuzz', server, include: ['test/laws/fuzz/long/**/*.test.ts'], testTimeout: 3_600_000 },
      },
    ],
  },
});
