import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { BuiltGateway } from '../built-gateway.ts';
import { addSession, noBrowserReason, openBrowser, openReader } from '../chromium.ts';
import { openShownGateway } from './shown-gateway.ts';

/**
 * Pictures of every view of the console for docs/images. `scripts/console-pictures.mjs` runs it from the root of the
 * repository. Arguments: views, such as `models`, or none for all; or `--open`, which takes no picture and leaves the
 * gateway of the pictures open for a look.
 */

/** Name, size of the window, and theme of each picture; `scale` makes the file small. */
const SHAPES = [
  { name: 'light', width: 1440, height: 900, theme: 'light', scale: 0.6 },
  { name: 'dark', width: 1440, height: 900, theme: 'dark', scale: 0.6 },
  { name: 'phone', width: 390, height: 844, theme: 'light', scale: 0.8 },
] as const;
const QUALITY = 0.72;
/** Addresses that show more, or less of the machine, than that of the view alone. */
const ADDRESSES: Readonly<Record<string, string>> = {
  '/configuration': '/configuration?search=limits',
  '/models': '/models?open=workshop/qwen3',
  '/sign-in': '/',
};
const PORT = 8791;
const FOLDER = join('docs', 'images');

/** What is done in a view before its picture is taken. */
const STEPS: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  '/log': async (page) => {
    if ((page.viewportSize()?.width ?? 0) < 1_000) return;
    await page.goto('/log?state=fallback&provider=Workshop');
    await settled(page);
    await page.locator('tr[data-id]').first().click();
    await page.locator('.drawer .wf').first().waitFor();
  },
  '/providers': async (page) => {
    if ((page.viewportSize()?.width ?? 0) < 1_000) return;
    await page.goto('/providers?provider=anthropic');
    await page.locator('.upf').waitFor();
    await settled(page);
  },
  '/playground': async (page) => {
    await page.goto('/playground?model=simulator/reasoning&second=simulator/standard');
    await page.getByRole('button', { name: 'Key that pays' }).click();
    await page.getByRole('option').first().click();
    await page.getByLabel('Message').fill('How should an HTTP API report errors?');
    await page.getByRole('button', { name: 'Send to both' }).click();
    await page.getByRole('link', { name: 'In the log' }).nth(1).waitFor();
    await settled(page);
  },
  '/guardrails': async (page) => {
    await page.getByRole('combobox').first().selectOption({ label: 'Shop' });
    await page.locator('main tbody tr').first().locator('button, a').first().click();
    await page.locator('.tryt').waitFor();
    await settled(page);
  },
  '/configuration': async (page) => {
    await page.getByText('of doctor').waitFor();
    // The path of the file is one of the machine.
    await page.evaluate(`for (const code of document.querySelectorAll('main code'))
      if (code.textContent.startsWith('/')) code.textContent = code.textContent.replace(/.*\\//, '')`);
  },
  '/presets': (page) =>
    page
      .getByRole('button', { name: /^Content of/ })
      .first()
      .click(),
};

if (noBrowserReason !== undefined) throw new Error(noBrowserReason);
const words = process.argv.slice(2);
const gateway = await openShownGateway(PORT);
if (words.includes('--open')) {
  console.log(`${gateway.origin}/ shows it to ${gateway.managementKey}; Ctrl C ends it.`);
  process.once('SIGINT', () => void gateway.close());
} else {
  const browser = await openBrowser();
  try {
    await takeAll(browser, gateway, words);
  } finally {
    await browser.close();
    await gateway.close();
  }
}

async function takeAll(browser: Browser, gateway: BuiltGateway, wanted: readonly string[]): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const encoder = await browser.newPage();
  let total = 0;
  for (const { name, width, height, theme, scale } of SHAPES) {
    const reader = await openReader(browser, gateway.origin);
    const page = await reader.newPage();
    await page.setViewportSize({ width, height });
    await page.emulateMedia({ colorScheme: theme });
    for (const view of await viewsOf(page, reader, gateway)) {
      const title = view === '/' ? 'overview' : view.slice(1);
      if (wanted.length > 0 && !wanted.includes(title)) continue;
      if (view === '/sign-in') await reader.clearCookies();
      await page.goto(ADDRESSES[view] ?? view);
      await settled(page);
      await STEPS[view]?.(page);
      const bytes = await webpOf(encoder, await page.screenshot(), width * scale, height * scale);
      writeFileSync(join(FOLDER, `console-${title}-${name}.webp`), bytes);
      total += bytes.length;
    }
    await reader.close();
  }
  console.log(`${Math.round(total / 1_000)} KB in ${FOLDER}`);
}

/** Paths of all views, from the navigation, and at last the sign-in, for which the session is given up. */
async function viewsOf(page: Page, reader: BrowserContext, gateway: BuiltGateway): Promise<string[]> {
  await addSession(reader, gateway, gateway.managementKey);
  await page.goto('/start');
  await page.locator('nav.nav li a').first().waitFor({ state: 'attached' });
  await settled(page);
  const paths = await page
    .locator('nav.nav li a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href') ?? ''));
  return [...new Set(['/start', ...paths, '/sign-in'])];
}

/** Waits until nothing more is asked for; a view that goes on asking is drawn all the same. */
async function settled(page: Page): Promise<void> {
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined);
}

/** The browser makes the picture smaller: no other program is needed. */
async function webpOf(encoder: Page, png: Buffer, width: number, height: number): Promise<Buffer> {
  const given = [png.toString('base64'), Math.round(width), Math.round(height), QUALITY];
  const url = await encoder.evaluate<string>(`(async ([source, width, height, quality]) => {
    const image = new Image();
    image.src = 'data:image/png;base64,' + source;
    await image.decode();
    const canvas = Object.assign(document.createElement('canvas'), { width, height });
    const context = canvas.getContext('2d');
    context.imageSmoothingQuality = 'high';
    context.drawImage(image, 0, 0, width, height);
    return canvas.toDataURL('image/webp', quality);
  })(${JSON.stringify(given)})`);
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}
