import { render } from 'preact';
import { App } from './app.tsx';
import { copyExactly } from './parts/exact.ts';
import { applyTheme } from './shell/theme.ts';
import { viewAt } from './views/views.ts';
import './styles/console.css';

applyTheme();
copyExactly();
// Fetches the script of the view while the session is read; a failure shows when the view is opened.
viewAt(location.pathname)
  ?.load()
  .catch(() => undefined);
const root = document.getElementById('console');
if (root !== null) render(<App />, root);
