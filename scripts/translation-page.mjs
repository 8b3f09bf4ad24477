// `node scripts/translation-page.mjs`: writes docs/guide/translation*.md from the tables that test/laws/matrix checks.
import { installIfNeeded, runTool } from './toolchain.mjs';

installIfNeeded();
runTool('vitest/vitest.mjs', ['run', '--project', 'suite', 'test/laws/matrix/page.test.ts', '--update']);
