import { buildIfNeeded, installIfNeeded } from './toolchain.mjs';

installIfNeeded();
buildIfNeeded();
