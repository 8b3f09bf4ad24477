import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** A page of the guide is read in one sitting. */
const MAX_GUIDE_LINES = 300;
const MAX_LINES_WITHOUT_CONTENTS = 110;

/** The newcomer runs it before reading on. */
const MAX_README_LINES = 91;

/** Lines fit beside each other in a comparison. Tables, code and addresses may be longer. */
const MAX_LINE_CHARACTERS = 120;

const FOLDERS = ['src', 'test', 'bench', 'scripts', 'docs', 'deploy'];

/** Paths from the root; folders end in `/`. */
const paths: readonly string[] = [
  ...readdirSync(root, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? entry.name : [])),
  ...FOLDERS.flatMap((folder) => [`${folder}/`, ...below(folder)]),
];
const known = new Set(paths);
const baseNames = new Set(paths.map((path) => basename(path)));
const pages = paths.filter((path) => path.endsWith('.md'));

function below(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name).slice(root.length + 1);
    return entry.isDirectory() ? `${path}/` : path;
  });
}

const textOf = (page: string) => readFileSync(join(root, page), 'utf8');

const withoutCodeBlocks = (text: string) => text.replace(/^ *```[\s\S]*?^ *```/gm, '');

/** The anchor that GitHub makes of a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

function anchorsOf(text: string): Set<string> {
  const headings = withoutCodeBlocks(text).matchAll(/^#+ (.+)$/gm);
  return new Set([...headings].map(([, heading]) => anchorOf(heading as string)));
}

/** Lines of a text that are too long, with the name of its file. */
const longLines = (path: string, text: string) =>
  text
    .split('\n')
    .filter((line) => line.length > MAX_LINE_CHARACTERS)
    .map((line) => `${path}: ${line}`);

/** Relative links of a page that lead to no file, or to no heading of a page. */
function brokenLinks(page: string, text: string): string[] {
  const links = [...withoutCodeBlocks(text).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link as string);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!known.has(target) && !known.has(`${target}/`)) return true;
    if (anchor === undefined || !target.endsWith('.md')) return false;
    return !anchorsOf(target === page ? text : textOf(target)).has(anchor);
  });
}

/** Names of source files and folders in backticks that do not exist, from the root or from `src/`. */
function unknownNames(text: string): string[] {
  const quoted = [...withoutCodeBlocks(text).matchAll(/`([^`\n]+)`/g)].map(([, code]) => code as string);
  return quoted.flatMap((code) => code.split(' ')).filter((name) => isOfSource(name) && !exists(name));
}

/** File names with an extension of this project, and folders with a parent; other folders may be data directories. */
function isOfSource(name: string): boolean {
  return /^[\w./<>*-]*[\w>]\.(ts|mjs|c|md)$/.test(name) || /^[\w<>-]+(\/[\w<>-]+)+\/$/.test(name);
}

function exists(name: string): boolean {
  if (/[<*]|NNNN/.test(name)) {
    const pattern = name
      .replaceAll('.', '\\.')
      .replace(/<[^>]+>|\*/g, '[^/]+')
      .replace('NNNN', '\\d{4}');
    return paths.some((path) => new RegExp(`^(src/|.+/)?${pattern}$`).test(path));
  }
  return known.has(name) || known.has(`src/${name}`) || (!name.includes('/') && baseNames.has(name));
}

describe('the documents', () => {
  it.each(pages)('%s links only to files and headings that exist', (page) => {
    expect(brokenLinks(page, textOf(page))).toEqual([]);
  });

  it.each(pages)('%s names only source files that exist', (page) => {
    expect(unknownNames(textOf(page))).toEqual([]);
  });

  it('fail with a wrong link or name', () => {
    const links =
      '[a](docs/nowhere.md) [b](docs/glossary.md#nowhere) [c](#here) [d](docs/glossary.md#the-process)';
    expect(brokenLinks('README.md', links)).toEqual(['docs/nowhere.md', 'docs/glossary.md#nowhere', '#here']);
    const names =
      '`kit/nowhere.ts`, `nowhere.ts`, `src/nowhere/<name>.ts`, `kit/nowhere/`, `kit/json/`, `main.ts`';
    expect(unknownNames(names)).toEqual([
      'kit/nowhere.ts',
      'nowhere.ts',
      'src/nowhere/<name>.ts',
      'kit/nowhere/',
    ]);
  });

  const guide = pages.filter((page) => /^docs\/guide\/(?!README)/.test(page));

  it('name the repository of the package, and the README is short', () => {
    const { repository } = JSON.parse(textOf('package.json')) as { repository: { url: string } };
    const readme = textOf('README.md');
    expect(readme).toContain(`git clone ${repository.url.replace('git+', '')} `);
    expect(readme.split('\n').length).toBeLessThanOrEqual(MAX_README_LINES);
  });

  it('list every page of the guide in its contents', () => {
    const contents = textOf('docs/guide/README.md');
    expect(guide.filter((page) => !contents.includes(`](${basename(page)})`))).toEqual([]);
  });

  it.each(guide)('%s is of readable length, with contents if it is long', (page) => {
    const text = textOf(page);
    const lines = text.split('\n').length;
    expect(lines).toBeLessThanOrEqual(MAX_GUIDE_LINES);
    if (lines <= MAX_LINES_WITHOUT_CONTENTS) return;
    const [contents = ''] = /^On this page: [\s\S]*?\.$/m.exec(text) ?? [];
    const sections = [...withoutCodeBlocks(text).matchAll(/^## (.+)$/gm)].map(
      ([, heading]) => heading as string,
    );
    const missing = sections.filter((heading) => !contents.includes(`](#${anchorOf(heading)})`));
    expect(missing, 'headings that "On this page: ..." at the top lacks').toEqual([]);
  });

  it('keep their lines short, and so do comments', () => {
    const prose = pages.flatMap((page) =>
      longLines(page, withoutCodeBlocks(textOf(page)).replace(/^ *\|.*|.*https?:.*/gm, '')),
    );
    const sources = paths.filter((path) => /^(src|test)\/.*\.ts$/.test(path));
    const comments = sources.flatMap((path) =>
      longLines(path, textOf(path).replace(/^(?! *(\/\*|\*|\/\/) ?).*$/gm, '')),
    );
    expect([...prose, ...comments]).toEqual([]);
  });

  it('number decisions without gaps, in the name of the file and in its heading', () => {
    const decisions = pages.filter((page) => page.startsWith('docs/decisions/')).sort();
    const numbers = decisions.map((page) => Number(basename(page).slice(0, 4)));
    expect(numbers).toEqual(decisions.map((_, at) => at + 1));
    expect(decisions.map((page) => Number(/^# (\d+)\. /.exec(textOf(page))?.[1]))).toEqual(numbers);
  });

  it('list every room and each of its floors in the table of rooms', () => {
    const rows = textOf('docs/architecture.md').split('\n');
    const folders = paths.filter((path) => /^src\/([\w-]+\/){1,2}$/.test(path));
    const missing = folders.filter((path) => {
      const [, room, floor] = path.split('/');
      const row = rows.find((line) => line.startsWith(`| \`src/${room}/\` |`));
      return row === undefined || (floor !== '' && !row.includes(`\`${floor}/\``));
    });
    expect(missing).toEqual([]);
  });
});
