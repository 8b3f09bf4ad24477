import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme } from './shell/theme.ts';
import './styles/console.css';

applyTheme();
const root = document.getElementById('console');
if (root !== null) render(<App />, root);
