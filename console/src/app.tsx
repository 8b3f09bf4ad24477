import { QueryClient, QueryClientProvider } from '@tanstack/preact-query';
import type { ComponentType } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { go, useAddress } from './address/address.ts';
import type { CurrentKey } from './api/contract.ts';
import { ApiError, Unreachable } from './api/request.ts';
import { readSession, type SessionState, signOut } from './api/session.ts';
import { FailureNote } from './parts/states.tsx';
import { Toasts } from './parts/toast.tsx';
import { CurrentKeyContext } from './shell/current-key.ts';
import { Dialogs } from './shell/dialogs.tsx';
import { LostLine } from './shell/lost-line.tsx';
import { More } from './shell/more.tsx';
import { Navigation, TabBar, viewsFor } from './shell/navigation.tsx';
import { useGlobalShortcuts } from './shell/shortcuts.ts';
import { SignIn } from './views/sign-in/sign-in.tsx';
import { useStartState } from './views/start/start-state.ts';
import { viewAt } from './views/views.ts';

/** The longest pause between two tries while the gateway does not answer, milliseconds. */
const LONGEST_PAUSE_MS = 10_000;

/** The console: the sign-in, or the navigation with the view of the address. `begun`: the first look for a session. */
export function App({ begun }: { readonly begun: Promise<SessionState> }) {
  const [session, setSession] = useState<SessionState>({ kind: 'unknown' });
  const [queries] = useState(() =>
    createQueries((reason) =>
      setSession((before) => (before.kind === 'signed-in' ? { kind: 'ended', reason } : before)),
    ),
  );
  // Not after the next frame, as effects are: nothing is drawn before.
  useLayoutEffect(() => {
    let isCurrent = true;
    const take = (reading: Promise<SessionState>, pauseMs: number): void => {
      reading.then(
        (found) => isCurrent && setSession(found),
        () =>
          isCurrent &&
          setTimeout(() => take(readSession(), Math.min(pauseMs * 2, LONGEST_PAUSE_MS)), pauseMs),
      );
    };
    take(begun, 500);
    return () => {
      isCurrent = false;
    };
  }, [begun]);
  const leave = useCallback(async () => {
    await signOut().catch(() => undefined);
    queries.clear();
    setSession({ kind: 'none' });
  }, [queries]);
  if (session.kind === 'unknown') return null;
  if (session.kind !== 'signed-in') {
    const reason = session.kind === 'ended' ? session.reason : null;
    return <SignIn reason={reason} onSignedIn={(key) => setSession({ kind: 'signed-in', key })} />;
  }
  return (
    <QueryClientProvider client={queries}>
      <CurrentKeyContext.Provider value={session.key}>
        <SignedIn currentKey={session.key} onSignOut={leave} />
      </CurrentKeyContext.Provider>
    </QueryClientProvider>
  );
}

function SignedIn({
  currentKey,
  onSignOut,
}: {
  readonly currentKey: CurrentKey;
  readonly onSignOut: () => void;
}) {
  const { path } = useAddress();
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);
  const openPalette = useCallback(() => setOpen('palette'), []);
  const openHelp = useCallback(() => setOpen('help'), []);
  useGlobalShortcuts(openPalette, openHelp);
  const isUnused = useStartState(currentKey)?.isAsked === false;
  useEffect(() => {
    // Once: who goes back to the overview stays there.
    if (isUnused && path === '/') go('/start', { replace: true });
  }, [isUnused]);
  const view = viewAt(path);
  const isVisible = view !== undefined && viewsFor(currentKey).includes(view);
  useEffect(() => {
    document.title = view === undefined ? 'Signalbox' : `${view.title} · Signalbox`;
  }, [view]);
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <div class="app">
        <Navigation currentKey={currentKey} current={view} onSignOut={onSignOut} />
        <div class="main">
          <LostLine />
          {isVisible ? (
            <LoadedView key={view.path} load={view.load} />
          ) : (
            <More currentKey={currentKey} isLost={path !== '/more'} onSignOut={onSignOut} />
          )}
        </div>
      </div>
      <TabBar currentKey={currentKey} current={view} />
      <Dialogs open={open} onClose={() => setOpen(null)} currentKey={currentKey} />
      <Toasts />
    </>
  );
}

/** Loads the script of a view, then shows it. */
function LoadedView({ load }: { readonly load: () => Promise<ComponentType> }) {
  const [loaded, setLoaded] = useState<{ readonly View: ComponentType } | { readonly error: unknown } | null>(
    null,
  );
  // Before the next frame: its script is usually there, and its first question should go out.
  useLayoutEffect(() => {
    let isCurrent = true;
    load().then(
      (View) => isCurrent && setLoaded({ View }),
      (error: unknown) => isCurrent && setLoaded({ error }),
    );
    return () => {
      isCurrent = false;
    };
  }, [load]);
  if (loaded === null) return null;
  if ('View' in loaded) return <loaded.View />;
  return (
    <div class="pad">
      <FailureNote
        error={new Unreachable('This view could not be loaded: the gateway may have been upgraded.')}
        onRetry={() => window.location.reload()}
      />
    </div>
  );
}

/** The gateway answers, and a part that it needs does not. */
function isUnavailable(error: unknown): boolean {
  return error instanceof ApiError && error.status === 503;
}

/**
 * Reads are tried again while the gateway does not answer, never after a refusal. If only a part of it does not, the
 * view says so after the second try and goes on asking.
 */
function createQueries(onSessionEnded: (reason: string) => void): QueryClient {
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (failures, error) => error instanceof Unreachable || (isUnavailable(error) && failures < 1),
        refetchInterval: ({ state }) => (isUnavailable(state.error) ? LONGEST_PAUSE_MS : false),
        retryDelay: (count) => Math.min(500 * 2 ** count, LONGEST_PAUSE_MS),
        staleTime: 5_000,
      },
    },
  });
  const check = (error: unknown): void => {
    if (error instanceof ApiError && error.status === 401) onSessionEnded(error.message);
  };
  client.getQueryCache().config.onError = check;
  client.getMutationCache().config.onError = check;
  return client;
}
