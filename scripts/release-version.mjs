// `node scripts/release-version.mjs TAG`: fails if the tag of a release is not the version of the package and the newest
// one of the changelog.
import { readFileSync } from 'node:fs';

const [tag] = process.argv.slice(2);
const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
const newest = /^## (\d+\.\d+\.\d+), .*\(tag `(v\d+\.\d+\.\d+)`\)$/m.exec(
  readFileSync('CHANGELOG.md', 'utf8'),
);

if (tag !== `v${version}` || newest?.[1] !== version || newest[2] !== tag) {
  console.error(
    `signalbox: the tag is ${tag}, package.json says ${version}, the newest release of CHANGELOG.md is ` +
      `${newest?.[1] ?? 'none'} (tag ${newest?.[2] ?? 'none'}); all three must agree ("Make a release" in CONTRIBUTING.md)`,
  );
  process.exitCode = 1;
}
