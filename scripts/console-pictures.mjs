// `node scripts/console-pictures.mjs ORIGIN [VIEW...]`: pictures of every view of the console of a running gateway, or of
// some, such as `models`, for docs/images. SIGNALBOX_MANAGEMENT_KEY is the key that signs in. Views come from the
// navigation.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { root } from './toolchain.mjs';

/** Name, size of the window, and theme of each picture; `scale` makes the file small. */
const SHAPES = [
  { name: 'light', width: 1440, height: 900, theme: 'light', scale: 0.6 },
  { name: 'dark', width: 1440, height: 900, theme: 'dark', scale: 0.6 },
  { name: 'phone', width: 390, height: 844, theme: 'light', scale: 0.8 },
];
const QUALITY = 0.72;

/** What is done in a view before its picture is taken. */
const STEPS = {
  '/playground': async (page) => {
    await page.goto('/playground?model=simulator/reasoning&second=simulator/standard');
    await page.getByRole('button', { name: 'Key that pays' }).waitFor();
    await page.getByLabel('Message').fill('How should an HTTP API report errors?');
    await page.getByRole('button', { name: 'Send to both' }).click();
    await page.getByRole('link', { name: 'In the log' }).nth(1).waitFor();
    await settled(page);
  },
  '/guardrails': async (page) => {
    await page.locator('main tbody tr').first().locator('button, a').first().click();
    await page.locator('.tryt').waitFor();
    await settled(page);
  },
  // Paths of this machine are of no interest.
  '/configuration': async (page) => {
    await page.goto('/configuration?search=limits');
    await settled(page);
  },
  '/presets': (page) =>
    page
      .getByRole('button', { name: /^Content of/ })
      .first()
      .click(),
};

const [origin = 'http://127.0.0.1:8787', ...wanted] = process.argv.slice(2);
const folder = join(root, 'docs', 'images');
mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
const encoder = await (await browser.newContext()).newPage();
let total = 0;
for (const { name, width, height, theme, scale } of SHAPES) {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width, height },
    colorScheme: theme,
    locale: 'en-GB',
    deviceScaleFactor: 1,
  });
  const page = await context.newPage();
  await page.goto('/start');
  await page.getByLabel('Key', { exact: true }).fill(process.env.SIGNALBOX_MANAGEMENT_KEY ?? '');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('nav.nav .nav-foot').waitFor({ state: 'attached' });
  await settled(page);
  const paths = await page.locator('nav.nav li a').evaluateAll((links) => links.map((link) => link.pathname));
  for (const path of paths) {
    const view = path === '/' ? 'overview' : path.slice(1);
    if (wanted.length > 0 && !wanted.includes(view)) continue;
    await page.goto(path);
    await settled(page);
    await STEPS[path]?.(page);
    const bytes = await webpOf(await page.screenshot(), width * scale, height * scale);
    writeFileSync(join(folder, `console-${view}-${name}.webp`), bytes);
    total += bytes.length;
  }
  await context.close();
}
await browser.close();
console.log(`${Math.round(total / 1_000)} KB in ${folder}`);

/** Waits until nothing more is asked for; a view that goes on asking is drawn all the same. */
async function settled(page) {
  await page.waitForLoadState('networkidle', { timeout: 5_000 }).catch(() => undefined);
}

/** The browser makes the picture smaller: no other program is needed. */
async function webpOf(png, width, height) {
  const url = await encoder.evaluate(
    async ([source, w, h, quality]) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = Object.assign(document.createElement('canvas'), { width: w, height: h });
      const context = canvas.getContext('2d');
      context.imageSmoothingQuality = 'high';
      context.drawImage(image, 0, 0, w, h);
      return canvas.toDataURL('image/webp', quality);
    },
    [`data:image/png;base64,${png.toString('base64')}`, Math.round(width), Math.round(height), QUALITY],
  );
  return Buffer.from(url.slice(url.indexOf(',') + 1), 'base64');
}
