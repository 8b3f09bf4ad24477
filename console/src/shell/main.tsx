import { render } from 'preact';
import { createQueries } from '../api/queries.ts';
import { readSession } from '../api/session.ts';
import { copyExactly } from '../parts/exact.ts';
import { App } from './app.tsx';
import { applyTheme } from './theme.ts';
import { viewAt } from './views.ts';
import '../styles/console.css';

applyTheme();
copyExactly();
// Before anything is drawn: every view waits for its answer.
const session = readSession();
// Fetches the script of the view meanwhile; a failure shows when the view is opened.
viewAt(location.pathname)
  ?.load()
  .catch(() => undefined);
const root = document.getElementById('console');
if (root !== null) render(<App begun={session} queries={createQueries()} />, root);
