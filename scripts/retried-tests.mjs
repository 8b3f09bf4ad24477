/**
 * A reporter of vitest beside its own: lists the tests that failed first and passed when they were tried again, each
 * with its first failure, so that a retry in CI hides nothing.
 */
export default class RetriedTests {
  onTestRunEnd(modules) {
    const retried = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `  ${module.relativeModuleId}: ${test.fullName}\n${firstFailure(test)}`),
    );
    if (retried.length > 0) {
      console.error(`signalbox: passed at the second try only, to be mended:\n${retried.join('\n')}`);
    }
  }
}

/** Characters shown of each end of a message: a law begins with its seed, and an assertion ends with what it expected. */
const SHOWN_CHARACTERS = 1_000;

/** Messages of an error and its causes: that of a law says which case failed, and that of its cause says how. */
const MOST_MESSAGES = 4;

/** The lines of the first failure of a test. */
function firstFailure(test) {
  const lines = [];
  let error = test.result().errors?.[0];
  for (; error !== undefined && error !== null && lines.length < MOST_MESSAGES; error = error.cause) {
    lines.push(`    ${lines.length === 0 ? '' : 'caused by: '}${shortened(error.message ?? String(error))}`);
  }
  return lines.length === 0 ? '    no message' : lines.join('\n');
}

function shortened(message) {
  const line = message.replaceAll(/\s*\n\s*/g, ' ');
  if (line.length <= 2 * SHOWN_CHARACTERS) return line;
  return `${line.slice(0, SHOWN_CHARACTERS)} … ${line.slice(-SHOWN_CHARACTERS)}`;
}
