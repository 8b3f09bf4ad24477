import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { clickhouseForTests } from '../../kit/servers/clickhouse-server.ts';
import { openPage } from './browser.ts';
import { noBrowserReason, openBrowser } from './chromium.ts';
import { signedInReader } from './console-under-test.ts';

/** Views that ask the analytics store, and what they show when it answers. */
const VIEWS = [
  ['/?from=-1h', '.ov-main .plot path'],
  ['/log?from=-1h', '.list [data-id]'],
  ['/analytics', '.an .plot path'],
  ['/apps', 'main :is(tr[data-index], .empty)'],
  ['/apps?of=models', 'main :is(tr[data-index], .empty)'],
  ['/models', 'main tr[data-index], main tbody tr'],
] as const;

const BROKEN = /analytics do not answer/;
const NOTHING_YET = 'No usage matches this question';

/** Longer than any view waits before it asks again, milliseconds. */
const ASKED_AGAIN_MS = 20_000;

/** The views have one clock. All its jumps together stay far below the hour that the overview looks back. */
const MOST_JUMPS = 30;

/** A busy machine takes seconds for an answer, and with each minute of the clock questions under way are given up. */
const LOOKS_BETWEEN_JUMPS = 16;

const LOOK_MS = 500;

const clickhouse = await clickhouseForTests();
const reason = noBrowserReason === undefined ? '' : ` (${noBrowserReason})`;

describe.skipIf(noBrowserReason !== undefined)(`an analytics store that is really broken${reason}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser.close());

  it('is named by every view while another process holds its file, and read when it is free', async () => {
    let holder: ChildProcess | undefined;
    const gateway = await openTestGateway(
      {},
      {
        prepare: async (dataDir) => {
          holder = await holdFile(join(dataDir, 'events.duckdb'));
        },
      },
    );
    await generate(gateway);
    await breaksAndRecovers(gateway, async () => {
      holder?.kill('SIGKILL');
      if (holder?.exitCode === null) await once(holder, 'exit');
    });
    await gateway.close();
  }, 300_000);

  it.skipIf(clickhouse === undefined)(
    'is named by every view while ClickHouse is down, and read when it is back',
    async () => {
      const server = clickhouse as NonNullable<typeof clickhouse>;
      const gateway = await openTestGateway({}, { env: { CLICKHOUSE_URL: server.newDatabase() } });
      await generate(gateway);
      await server.kill();
      await breaksAndRecovers(gateway, () => server.start());
      await gateway.close();
    },
    300_000,
  );

  it('is filled again after its file was damaged', async () => {
    const gateway = await openTestGateway(
      {},
      {
        prepare: async (dataDir) => writeFileSync(join(dataDir, 'events.duckdb'), 'x'.repeat(100_000)),
      },
    );
    await generate(gateway);
    const reader = await signedInReader(browser, gateway, gateway.managementKey);
    await reader.clock.install();
    await allShown(reader, await openViews(reader));
    expect(gateway.logText()).toContain('cannot be read and is now');
    await reader.close();
    await gateway.close();
  }, 300_000);

  /** All views say that the store is broken; after it was mended they show what they are for. */
  async function breaksAndRecovers(gateway: TestGateway, mend: () => Promise<void>): Promise<void> {
    const reader = await signedInReader(browser, gateway, gateway.managementKey);
    await reader.clock.install();
    const views = await openViews(reader);
    await Promise.all(views.map(({ page }) => page.getByText(BROKEN).first().waitFor()));
    await mend();
    await allShown(reader, views);
    await reader.close();
  }
});

interface OpenView {
  readonly address: string;
  readonly part: string;
  readonly page: Page;
}

async function openViews(reader: BrowserContext): Promise<readonly OpenView[]> {
  return Promise.all(
    VIEWS.map(async ([address, part]) => {
      const { page } = await openPage(reader);
      await page.goto(address);
      return { address, part, page };
    }),
  );
}

/** Lets the views ask again until each shows its part and says nothing of a failure. */
async function allShown(reader: BrowserContext, views: readonly OpenView[]): Promise<void> {
  let missing = views;
  for (let look = 0; missing.length > 0 && look < MOST_JUMPS * LOOKS_BETWEEN_JUMPS; look++) {
    if (look % LOOKS_BETWEEN_JUMPS === 0) await reader.clock.fastForward(ASKED_AGAIN_MS);
    else await sleep(LOOK_MS);
    missing = await filtered(missing, async ({ page, part }) => {
      if ((await page.getByText(BROKEN).count()) > 0) return true;
      // The store may have answered before it was fed, and the explorer asks only when it is told to.
      if ((await page.getByText(NOTHING_YET).count()) > 0)
        await page.getByRole('button', { name: 'Run' }).click();
      return (await page.locator(part).count()) === 0;
    });
  }
  expect(missing.map(({ address }) => address)).toEqual([]);
}

async function filtered<T>(values: readonly T[], isKept: (value: T) => Promise<boolean>): Promise<T[]> {
  const kept = await Promise.all(values.map(isKept));
  return values.filter((_, at) => kept[at]);
}

async function generate(gateway: TestGateway): Promise<void> {
  for (let sent = 0; sent < 3; sent++) {
    const response = await gateway.post('/chat/completions', {
      model: 'simulator/standard',
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(response.status).toBe(200);
    await response.text();
  }
}

/** Opens a DuckDB file in a process of its own, which locks it. */
async function holdFile(file: string): Promise<ChildProcess> {
  const script = `require('@duckdb/node-api').DuckDBInstance.create(${JSON.stringify(file)})
    .then((held) => { globalThis.held = held; console.log('held'); setInterval(() => held, 1000); })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout as NonNullable<typeof child.stdout>, 'data');
  return child;
}
