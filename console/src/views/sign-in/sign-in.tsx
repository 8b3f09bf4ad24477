import { useEffect, useRef, useState } from 'preact/hooks';
import type { CurrentKey } from '../../api/contract.ts';
import { ApiError } from '../../api/request.ts';
import { signIn } from '../../api/session.ts';
import { BrandMark, Icon } from '../../parts/icon.tsx';

interface Props {
  /** Why the last session ended; null = there was none. */
  readonly reason: string | null;
  readonly onSignedIn: (key: CurrentKey) => void;
}

/** Exchanges a key for a session. The address stays, so that the reader returns to the same view. */
export function SignIn({ reason, onSignedIn }: Props) {
  const [secret, setSecret] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (secret.trim() === '') return setProblem('Paste a key of this gateway.');
    setBusy(true);
    setProblem(null);
    try {
      onSignedIn(await signIn(secret.trim()));
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
    }
  };
  return (
    <div class="si">
      <section class="si-l">
        <div class="brand">
          <BrandMark />
          Signalbox
        </div>
        <form class="si-f" onSubmit={submit} noValidate>
          <h1>Sign in</h1>
          <p class="t2">
            with a key of this gateway, at <code>{window.location.host}</code>
          </p>
          {reason !== null && (
            <div class="note warn" role="status">
              <Icon name="warning" size={14} />
              <span>{reason}. Afterwards you are back where you were, with what you typed.</span>
            </div>
          )}
          <div class="f-row">
            <label for="key">Key</label>
            <input
              ref={field}
              class="in-t mono"
              id="key"
              type="password"
              autocomplete="off"
              placeholder="sk-…"
              aria-invalid={problem !== null}
              aria-describedby={problem === null ? undefined : 'key-problem'}
              value={secret}
              onInput={(event) => setSecret(event.currentTarget.value)}
            />
            {problem !== null && (
              <p class="err" id="key-problem" role="alert">
                <Icon name="warning" size={14} />
                <span>{problem}</span>
              </p>
            )}
          </div>
          <button class="b pri lg full" type="submit" disabled={isBusy}>
            Sign in
          </button>
          <dl class="si-k">
            <dt>Management key</dt>
            <dd>Everything: all workspaces, keys, settings.</dd>
            <dt>Any other key</dt>
            <dd>That key alone: its usage, limit and log.</dd>
          </dl>
          <details class="si-d">
            <summary>Where is my key?</summary>
            <p>
              The first start printed one of each. To make a new management key, run this beside the gateway:
            </p>
            <div class="code">
              <pre>npx signalbox keys create --management</pre>
            </div>
          </details>
        </form>
        <p class="si-foot sm t3">
          The key is exchanged for a session of 8 hours in a cookie that scripts cannot read. It is not stored
          in this browser. Sessions can be listed and ended under Sessions.
        </p>
      </section>
      <Tracks />
    </div>
  );
}

function problemOf(error: unknown): string {
  if (error instanceof ApiError && error.status === 401) {
    return 'No such key here. It may belong to another gateway, or was revoked.';
  }
  return error instanceof Error ? error.message : 'Signing in failed.';
}

/** The railway line: decoration of this page alone. */
function Tracks() {
  return (
    <div class="si-r">
      <svg class="si-art" viewBox="0 110 520 720" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
        <g class="trk">
          <path d="M-20 560H540" />
          <path d="M-20 500H120C190 500 210 440 280 440H540" />
          <path d="M-20 620H200C270 620 290 560 360 560" />
          <path d="M140 500H540" />
          <path d="M-20 380H60C130 380 150 320 220 320H540" />
          <path d="M280 440C350 440 360 380 430 380H540" />
        </g>
        <path class="trk-on" d="M-20 500H120C190 500 210 440 280 440C350 440 360 380 430 380H540" />
        <g class="sig">
          <circle cx="120" cy="500" r="5" />
          <circle cx="280" cy="440" r="5" />
          <circle cx="430" cy="380" r="5" />
        </g>
        <g class="sig-off">
          <circle cx="200" cy="620" r="5" />
          <circle cx="60" cy="380" r="5" />
        </g>
      </svg>
    </div>
  );
}
