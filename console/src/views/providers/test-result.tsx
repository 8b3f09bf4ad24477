import type { ProviderTestObject } from '../../api/contract.ts';
import { counted } from '../../format/numbers.ts';
import { duration } from '../../format/times.ts';
import { Icon } from '../../parts/icon.tsx';

/** What came back from a provider that was tested. */
export function TestResult({ test }: { readonly test: ProviderTestObject }) {
  const { passed, is_testable: isTestable, is_key_proven: isProven, status, message, models } = test;
  const isDoubtful = !isTestable || isProven === false;
  return (
    <div class={`note ${isDoubtful ? 'warn' : passed ? 'ok' : 'bad'}`} role="status">
      <Icon name={passed && !isDoubtful ? 'check' : 'warning'} size={14} />
      <span>
        <b>{status === null ? (isTestable ? 'No answer' : 'Not asked') : `Status ${status}`}</b>
        {status !== null && `, ${duration(test.milliseconds)}`}:{' '}
        {message ?? `lists ${counted(models.length, 'model')}`}.
        {isProven === false && ' It lists them without a key too, so this does not prove the key.'}
      </span>
    </div>
  );
}
