import { Link } from '../address/link.tsx';
import type { CurrentKey } from '../api/contract.ts';
import { Icon } from '../parts/icon.tsx';
import { TopBar } from '../parts/top-bar.tsx';
import { viewsFor } from './navigation.tsx';
import { ThemeSwitch } from './theme-switch.tsx';

interface Props {
  readonly currentKey: CurrentKey;
  /** The address names no view that this key may see. */
  readonly isLost: boolean;
  readonly onSignOut: () => void;
}

/** All views as a list: what phones have in place of the navigation, and where a wrong address leads. */
export function More({ currentKey, isLost, onSignOut }: Props) {
  return (
    <>
      <TopBar title={isLost ? 'No such view' : 'More'}>
        <ThemeSwitch />
      </TopBar>
      <main id="main" class="pad stack-16">
        {isLost && (
          <p class="t2">
            {currentKey.is_management_key
              ? 'The console has no view at this address.'
              : 'This address shows nothing, or only something to management keys.'}
          </p>
        )}
        <ul class="more">
          {viewsFor(currentKey).map(({ path, icon, title }) => (
            <li key={path}>
              <Link href={path} class="r">
                <Icon name={icon} />
                {title}
              </Link>
            </li>
          ))}
        </ul>
        <div class="r wrap">
          <a class="b" href="/docs">
            Documentation of the API
          </a>
          <button class="b" type="button" onClick={onSignOut}>
            Sign out
          </button>
        </div>
      </main>
    </>
  );
}
