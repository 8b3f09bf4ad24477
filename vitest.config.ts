import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';

/** Where `npm run test:clients` put the newest releases of the official clients. */
const newestClients = process.env.SIGNALBOX_CLIENTS;

const CLIENTS = ['openai', '@anthropic-ai/sdk', 'ai', '@ai-sdk/openai', '@ai-sdk/anthropic'];

const alias =
  newestClients === undefined
    ? []
    : CLIENTS.map((name) => ({ find: new RegExp(`^${name}$`), replacement: join(newestClients, name) }));

export default defineConfig({
  test: {
    // Many tests wait for processes, disks and clocks: one worker a core leaves the cores idle a part of the time.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    projects: [
      {
        test: {
          name: 'suite',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/faults/long/**', 'test/fuzz/long/**', 'test/clients/**'],
          // The longest take 10 s on an idle machine with two cores, and four times that on a busy one.
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // No module has a state of its own, so files can share what was imported: that is most of the time otherwise.
          isolate: false,
        },
      },
      {
        resolve: { alias },
        test: {
          name: 'clients',
          include: ['test/e2e/{openai,anthropic,ai-sdk}.test.ts', 'test/clients/**/*.test.ts'],
          testTimeout: 120_000,
        },
      },
      { test: { name: 'faults', include: ['test/faults/long/**/*.test.ts'], testTimeout: 600_000 } },
      { test: { name: 'fuzz', include: ['test/fuzz/long/**/*.test.ts'], testTimeout: 3_600_000 } },
    ],
  },
});
