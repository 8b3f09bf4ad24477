import { describe, expect, it } from 'vitest';
import { runInTurns } from '../../kit/loop/turns.ts';
import { readablePage as pageReader } from './readable-text.ts';

const readablePage = (html: string, maxCharacters = 100_000) => runInTurns(pageReader(html, maxCharacters));

const LONG = 'Words and words. '.repeat(20);

describe('readablePage', () => {
  it('reads title, headings, lists, tables and references', async () => {
    const page = await readablePage(`<!DOCTYPE html><html><head><title> A &amp; B
      &#8211; C&#x1F642; </title><style>p { color: red }</style><script>if (a < b) alert('<p>no</p>')</script></head>
      <body><!-- <p>no</p> --><h1>Head</h1><p>One&nbsp;<b>two</b> three<br>four &lt;five&gt; &unknown;</p>
      <ul><li>first</li><li></li><li>second <a href="x>y">link</a></li></ul>
      <table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table><pre>x
  y</pre></body></html>`);
    expect(page.title).toBe('A & B – C🙂');
    expect(page.text).toBe(
      '# Head\n\nOne two three\nfour <five> &unknown;\n\n- first\n- second link\n\n\ta\tb\n\tc\n\nx\n  y',
    );
  });

  it('leaves out what stands beside the content', async () => {
    const side = '<nav>Menu <a>Home</a></nav><footer>Imprint</footer>';
    expect((await readablePage(`${side}<p>${LONG}</p>`)).text).toBe(LONG.trim());
    const main = await readablePage(`<div>Banner</div>${side}<main><p>${LONG}</p></main>${side}`);
    expect(main.text).toBe(LONG.trim());
    // Where there is nothing else, it is the content.
    expect((await readablePage(side)).text).toBe('Menu Home\n\nImprint');
    expect((await readablePage('<p>short</p>')).text).toBe('short');
  });

  it.each([
    ['', ''],
    ['just text < 5 & more', 'just text < 5 & more'],
    ['<p>open <b>tags', 'open tags'],
    ['before<script>never ends', 'before'],
    ['before<!-- never ends', 'before'],
    ['before<a href="never ends', 'before'],
    ['<p title=">">x</p></nav></main>', 'x'],
    ['</', ''],
    ['<>x', '<>x'],
  ])('reads %j', async (html, text) => {
    expect((await readablePage(html)).text).toBe(text);
  });

  it.each([
    ['tags', '<p>'],
    ['cells', '<td>'],
    ['open comments', '<!-'],
    ['open scripts', '<script '],
    ['open quotes', '<a x="'],
    ['references', '&#'],
    ['spaces', ' '],
    ['less-than signs', '<'],
    ['ends', '</'],
    ['words', 'a b '],
    ['named references', '&amp;'],
    ['paragraphs', '<p>x'],
    ['quoted values', ' ="x"'],
    ['titles', '<title>x'],
  ])('takes two million characters of %s in linear time', async (_, piece) => {
    const timed = async (length: number) => {
      const html = piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
      const began = performance.now();
      await readablePage(html);
      return performance.now() - began;
    };
    await timed(50_000);
    const [short, long] = [await timed(200_000), await timed(2_000_000)];
    // Ten times the length: a quadratic reader would take a hundred times as long.
    expect(long).toBeLessThan(40 * short + 500);
  });

  it.each([
    ['words', 'a b '],
    ['named references', '&amp;'],
    ['paragraphs', '<p>x'],
    ['less-than signs', '<'],
  ])('reads %s in many short slices', (_, piece) => {
    const steps = pageReader(piece.repeat(200_000), 1_000_000);
    let slices = 1;
    while (steps.next().done !== true) slices++;
    expect(slices).toBeGreaterThan(10);
  });

  it('gathers no more than is wanted, and stops when it has that of the content', async () => {
    const { text } = await readablePage(`<nav>Menu</nav>${LONG.repeat(100)}`, 1000);
    expect(text.length).toBeGreaterThanOrEqual(999);
    expect(text.length).toBeLessThan(1000 + 5000);
    const steps = pageReader(`<main>${LONG}</main>${'<p>'.repeat(100_000)}`, 200);
    expect(steps.next().done).toBe(true);
  });

  it('cuts neither references nor runs of spaces of long texts', async () => {
    for (const piece of ['ab&amp;c ', 'x  \n y ', '&#128578;', 'a&b ']) {
      const whole = piece.repeat(2000);
      const { text } = await readablePage(whole);
      const once = (await readablePage(piece)).text;
      const gap = /\s$/.test(piece) ? ' ' : '';
      expect(text).toBe(Array(2000).fill(once).join(gap));
    }
    const kept = `<pre>${'a    b'.repeat(3000)}</pre>`;
    expect((await readablePage(kept)).text).toBe('a    b'.repeat(3000));
  });
});
