/**
 * A reporter of vitest beside its own: lists the tests that failed first and passed when they were tried again, each
 * with its first failure, so that a retry in CI hides nothing.
 */
export default class RetriedTests {
  onTestRunEnd(modules) {
    const retried = modules.flatMap((module) =>
      [...module.children.allTests()]
        .filter((test) => test.diagnostic()?.flaky === true)
        .map((test) => `  ${module.relativeModuleId}: ${test.fullName}\n    ${firstFailure(test)}`),
    );
    if (retried.length > 0) {
      console.error(`signalbox: passed at the second try only, to be mended:\n${retried.join('\n')}`);
    }
  }
}

function firstFailure(test) {
  const message = test.result().errors?.[0]?.message ?? 'no message';
  return message.split('\n').slice(0, 3).join(' ');
}
