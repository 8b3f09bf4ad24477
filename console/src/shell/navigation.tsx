import { Link } from '../address/link.tsx';
import type { CurrentKey } from '../api/contract.ts';
import { BrandMark, Icon } from '../parts/icon.tsx';
import { isDone, useStartState } from '../views/start/start-state.ts';
import { GatewayState } from './gateway-state.tsx';
import { ThemeSwitch } from './theme-switch.tsx';
import { VIEWS, type View } from './views.ts';

interface Props {
  readonly currentKey: CurrentKey;
  readonly current: View | undefined;
  readonly onSignOut: () => void;
}

const GROUPS = [null, 'Routing', 'Access', 'Gateway'] as const;

/** The views that a key may see. */
export function viewsFor(key: CurrentKey): readonly View[] {
  return VIEWS.filter((view) => key.is_management_key || view.isForAnyKey);
}

/** The navigation at the left, with the state of the gateway below. */
export function Navigation({ currentKey, current, onSignOut }: Props) {
  const start = useStartState(currentKey);
  const isStarting = start !== undefined && !isDone(start);
  const views = viewsFor(currentKey).filter((view) => isStarting || view.isOnlyAtFirst !== true);
  return (
    <nav class="nav" aria-label="Main">
      <Link class="brand" href="/">
        <BrandMark />
        Signalbox
      </Link>
      {GROUPS.map((group) => {
        const inGroup = views.filter((view) => view.group === group);
        if (inGroup.length === 0) return null;
        return (
          <>
            {group !== null && <h2>{group}</h2>}
            <ul>
              {inGroup.map((view) => (
                <li key={view.path}>
                  <Link href={view.path} aria-current={view === current ? 'page' : undefined}>
                    <Icon name={view.icon} />
                    {view.title}
                  </Link>
                </li>
              ))}
            </ul>
          </>
        );
      })}
      <div class="nav-foot">
        <hr />
        <GatewayState />
        <hr />
        <ThemeSwitch />
        <div class="r tight">
          <span class="cut" title={currentKey.label}>
            {currentKey.is_management_key ? 'Management key' : `Key ${currentKey.label}`}
          </span>
          <button class="link push nw" type="button" onClick={onSignOut}>
            Sign out
          </button>
        </div>
      </div>
    </nav>
  );
}

const ON_PHONES = ['/', '/log', '/playground', '/models'];

/** The bar of five at the bottom on phones. */
export function TabBar({ currentKey, current }: Pick<Props, 'currentKey' | 'current'>) {
  const views = viewsFor(currentKey).filter(({ path }) => ON_PHONES.includes(path));
  return (
    <nav class="tabbar" aria-label="Main">
      {views.map((view) => (
        <Link key={view.path} href={view.path} aria-current={view === current ? 'page' : undefined}>
          <Icon name={view.icon} size={20} />
          {view.title}
        </Link>
      ))}
      <Link href="/more" aria-current={current === undefined ? 'page' : undefined}>
        <Icon name="more" size={20} />
        More
      </Link>
    </nav>
  );
}
