import type { Handlers } from '../channel/channel.ts';

/** A set of ports, with the methods that another process calls. */
export type CalledMethods<Ports, Names extends MethodNames<Ports>> = {
  readonly [Port in keyof Ports]: Pick<Ports[Port], Names[Port][number] & keyof Ports[Port]>;
};

export type MethodNames<Ports> = { readonly [Port in keyof Ports]: readonly (keyof Ports[Port])[] };

type Call = (name: string, ...args: unknown[]) => Promise<unknown>;

/** The ports of the other process: each method is a call over the channel. */
export function remotePorts<Ports extends object>(call: Call, methods: MethodNames<Ports>): Ports {
  const ports = entriesOf(methods).map(([port, names]) => {
    const calls = names.map((name) => [name, (...args: unknown[]) => call(`${port}.${name}`, ...args)]);
    return [port, Object.fromEntries(calls)];
  });
  return Object.fromEntries(ports);
}

/** The handlers of a channel by which the other process calls the methods of these ports, once they are open. */
export function portHandlers<Ports extends object>(
  ports: () => Ports,
  methods: MethodNames<Ports>,
): Handlers {
  const served = ports as () => Readonly<Record<string, Handlers>>;
  const handlers = entriesOf(methods).flatMap(([port, names]) =>
    names.map((name) => [`${port}.${name}`, (...args: unknown[]) => served()[port]?.[name]?.(...args)]),
  );
  return Object.fromEntries(handlers);
}

function entriesOf(methods: object): [port: string, names: readonly string[]][] {
  return Object.entries(methods as Readonly<Record<string, readonly string[]>>);
}
