// `node scripts/configuration-page.mjs`: writes docs/guide/configuration-keys.md and signalbox.schema.json from the
// schema of the configuration file and the descriptions of its keys.
import { installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
runTool('vitest/vitest.mjs', [
  'run',
  '--project',
  'suite',
  'test/program/operator/configuration-schema',
  '--update',
]);
