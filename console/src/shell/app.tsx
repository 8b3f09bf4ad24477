import { onlineManager, type QueryClient, QueryClientProvider, useQuery } from '@tanstack/preact-query';
import type { ComponentType } from 'preact';
import { useCallback, useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { go, useAddress } from '../address/address.ts';
import type { CurrentKey } from '../api/contract.ts';
import { CurrentKeyContext } from '../api/current-key.ts';
import { LONGEST_PAUSE_MS, watchSession } from '../api/queries.ts';
import { ApiError, Unreachable } from '../api/request.ts';
import { readCurrentKey, readSession, type SessionState, seesTheSame, signOut } from '../api/session.ts';
import { FailureNote } from '../parts/states.tsx';
import { Toasts, toast } from '../parts/toast.tsx';
import { SignIn } from '../views/sign-in/sign-in.tsx';
import { SignInAgain } from '../views/sign-in/sign-in-again.tsx';
import { useStartState } from '../views/start/start-state.ts';
import { Dialogs } from './dialogs.tsx';
import { LostLine } from './lost-line.tsx';
import { MissingParts } from './missing-parts.tsx';
import { More } from './more.tsx';
import { Navigation, TabBar, viewsFor } from './navigation.tsx';
import { useGlobalShortcuts } from './shortcuts.ts';
import { viewAt } from './views.ts';

interface Props {
  /** The first look for a session. */
  readonly begun: Promise<SessionState>;
  /** The answers of all views; the first question of the view may have been asked. */
  readonly queries: QueryClient;
}

/** How often it is asked whether the session still holds, milliseconds. */
const SESSION_EVERY_MS = 15_000;

/** The console: the sign-in, or the navigation with the view of the address. */
export function App({ begun, queries }: Props) {
  const [session, setSession] = useState<SessionState>({ kind: 'unknown' });
  /** Changes when what was shown before must not be shown: everything is drawn anew. */
  const [visit, setVisit] = useState(0);
  useLayoutEffect(() => {
    watchSession(queries, (reason) =>
      setSession((before) => (before.kind === 'signed-in' ? { ...before, kind: 'ended', reason } : before)),
    );
  }, [queries]);
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
    try {
      await signOut();
    } catch (error) {
      // A session that has ended need not be ended. Otherwise the cookie stays, and only the gateway can remove it.
      if (!(error instanceof ApiError && error.status === 401)) {
        return toast('You are still signed in: the gateway did not end the session. Try again.');
      }
    }
    queries.clear();
    setSession({ kind: 'none' });
  }, [queries]);
  const enter = (key: CurrentKey): void => {
    onlineManager.setOnline(true);
    if (session.kind === 'ended' && seesTheSame(session.key, key)) {
      void queries.refetchQueries({ type: 'active', predicate: ({ state }) => state.status === 'error' });
    } else {
      // What another key has read is not for this one.
      queries.clear();
      setVisit((before) => before + 1);
    }
    setSession({ kind: 'signed-in', key });
  };
  const isEnded = session.kind === 'ended';
  // Views ask for nothing while nobody is signed in.
  useLayoutEffect(() => {
    if (isEnded) onlineManager.setOnline(false);
  }, [isEnded]);
  if (session.kind === 'unknown') return null;
  if (session.kind === 'none') return <SignIn reason={null} onSignedIn={enter} />;
  return (
    <QueryClientProvider client={queries}>
      <CurrentKeyContext.Provider value={session.key}>
        <div class={isEnded ? 'whole away' : 'whole'}>
          <SignedIn key={visit} currentKey={session.key} isEnded={isEnded} onSignOut={leave} />
        </div>
      </CurrentKeyContext.Provider>
      {isEnded && <SignInAgain reason={session.reason} onSignedIn={enter} />}
    </QueryClientProvider>
  );
}

interface SignedInProps {
  readonly currentKey: CurrentKey;
  /** The session has ended: everything is kept out of sight until the reader has signed in again. */
  readonly isEnded: boolean;
  readonly onSignOut: () => void;
}

function SignedIn({ currentKey, isEnded, onSignOut }: SignedInProps) {
  const { path } = useAddress();
  const [open, setOpen] = useState<'palette' | 'help' | null>(null);
  const openPalette = useCallback(() => !isEnded && setOpen('palette'), [isEnded]);
  const openHelp = useCallback(() => !isEnded && setOpen('help'), [isEnded]);
  useGlobalShortcuts(openPalette, openHelp);
  // Views that ask for nothing would not notice that the session has ended.
  useQuery({
    queryKey: ['session'],
    queryFn: readCurrentKey,
    initialData: currentKey,
    refetchInterval: SESSION_EVERY_MS,
  });
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
          <MissingParts />
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
