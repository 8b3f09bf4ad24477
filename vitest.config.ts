import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'suite',
          include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: ['test/clients/**', 'test/faults/long/**', 'test/fuzz/long/**'],
          testTimeout: 20_000,
          hookTimeout: 30_000,
        },
      },
      {
        test: {
          name: 'clients',
          include: ['test/clients/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
      { test: { name: 'faults', include: ['test/faults/long/**/*.test.ts'], testTimeout: 600_000 } },
      { test: { name: 'fuzz', include: ['test/fuzz/long/**/*.test.ts'], testTimeout: 3_600_000 } },
    ],
  },
});
