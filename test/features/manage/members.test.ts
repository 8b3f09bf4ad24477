import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/kit/json/json.ts';
import { openTestGateway, type TestGateway } from '../../kit/gateway-harness.ts';
import { type Management, managementOf } from '../../kit/management.ts';

const ID = /^user_[0-9A-Za-z]{24}$/;
const MEMBERS = '/organization/members';

let gateway: TestGateway;
let management: Management;
let ask: Management['ask'];
let data: Management['data'];
/** Management key of a second account. */
let stranger: string;
let count = 0;

beforeAll(async () => {
  gateway = await openTestGateway();
  management = managementOf(gateway);
  ({ ask, data } = management);
  stranger = (await management.command('accounts.create', { name: 'stranger' })).management_key;
});

afterAll(() => gateway.close());

const added = (more: JsonObject = {}, key?: string) =>
  data(201, 'POST', MEMBERS, { email: `person-${++count}@example.com`, ...more }, key);

const keyOfMember = async (id: string): Promise<{ secret: string; hash: string }> => {
  const { status, body } = await ask('POST', '/keys', { name: 'laptop', creator_user_id: id });
  expect(status).toBe(201);
  return { secret: body.key, hash: body.data.hash };
};

const statusWith = async (key: string) => (await ask('GET', '/key', undefined, key)).status;

describe('POST /organization/members', () => {
  it('adds a person and shows every member of them', async () => {
    const member = await added({ email: 'Jane@Example.com', first_name: 'Jane', role: 'org:admin' });
    expect(member).toEqual({
      id: expect.stringMatching(ID),
      email: 'jane@example.com',
      first_name: 'Jane',
      last_name: null,
      role: 'org:admin',
      disabled: false,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      updated_at: null,
      managed_by: null,
    });
    expect(await data(200, 'GET', `${MEMBERS}/${member.id}`)).toEqual(member);
  });

  it.each<[string, JsonObject, string]>([
    ['no address', { email: undefined as never }, 'email: is required'],
    ['what is no address', { email: 'jane' }, 'email: must be an address such as jane@example.com'],
    ['an address with a blank', { email: 'ja ne@example.com' }, 'email: must be an address'],
    ['an unknown role', { role: 'boss' }, 'role: must be one of'],
    ['a name without letters', { first_name: ' ' }, 'first_name: must hold something besides blanks'],
    ['an unknown member', { state: 'active' }, 'state: is not a known field'],
  ])('refuses %s', async (_, more, message) => {
    const { status, body } = await ask('POST', MEMBERS, { email: 'x@example.com', ...more });
    expect(status).toBe(400);
    expect(body.error.message).toContain(message);
  });

  it('refuses an address that the account has, in whatever case; another account may have it', async () => {
    const { email } = await added();
    const { status, body } = await ask('POST', MEMBERS, { email: email.toUpperCase() });
    expect(status).toBe(409);
    expect(body.error.message).toContain(`the account has a member with the address ${email}`);
    expect((await added({ email }, stranger)).email).toBe(email);
  });

  it('is for management keys', async () => {
    const plain = (await keyOfMember('somebody')).secret;
    for (const [method, path] of [
      ['GET', MEMBERS],
      ['POST', MEMBERS],
    ] as const) {
      expect(
        await ask(method, path, method === 'POST' ? { email: 'y@example.com' } : undefined, plain),
      ).toMatchObject({
        status: 403,
        body: { error: { message: 'Only management keys can perform this operation' } },
      });
    }
  });
});

describe('GET /organization/members', () => {
  it('lists by page, by text and by state, and counts all that match', async () => {
    const two = [await added({ last_name: 'Quill' }), await added({ last_name: 'Quillon' })];
    await data(200, 'PATCH', `${MEMBERS}/${two[1].id}`, { disabled: true });
    const list = async (query: string) => (await ask('GET', `${MEMBERS}?${query}`)).body;
    expect(await list('search=quill&limit=1')).toMatchObject({ data: [{ id: two[0].id }], total_count: 2 });
    expect(await list('search=quill&limit=1&offset=1')).toMatchObject({ data: [{ id: two[1].id }] });
    expect(await list('search=quill&state=disabled')).toMatchObject({
      data: [{ id: two[1].id }],
      total_count: 1,
    });
  });

  it('shows nobody of another account, as if they did not exist', async () => {
    const { id } = await added({}, stranger);
    for (const [method, body] of [
      ['GET', undefined],
      ['PATCH', { disabled: true }],
      ['DELETE', undefined],
    ] as const) {
      expect((await ask(method, `${MEMBERS}/${id}`, body)).status).toBe(404);
    }
    const { body } = await ask('GET', `${MEMBERS}?limit=100`);
    expect(body.data.map((member: { id: string }) => member.id)).not.toContain(id);
  });
});

describe('the keys of a member', () => {
  it('stop working at once while the member is disabled, and for good once removed', async () => {
    const { id } = await added();
    const { secret, hash } = await keyOfMember(id);
    expect(await statusWith(secret)).toBe(200);
    await data(200, 'PATCH', `${MEMBERS}/${id}`, { disabled: true });
    expect(await statusWith(secret)).toBe(401);
    expect(await data(200, 'GET', `/keys/${hash}`)).toMatchObject({
      disabled: false,
      owner_state: 'disabled',
    });
    await data(200, 'PATCH', `${MEMBERS}/${id}`, { disabled: false });
    expect(await statusWith(secret)).toBe(200);
    expect((await ask('DELETE', `${MEMBERS}/${id}`)).body).toEqual({ deleted: true });
    expect(await statusWith(secret)).toBe(401);
    expect(await data(200, 'GET', `/keys/${hash}`)).toMatchObject({
      creator_user_id: id,
      owner_state: 'removed',
    });
  });

  it('end with their sessions', async () => {
    const { id } = await added();
    const { secret } = await keyOfMember(id);
    const signedIn = await gateway.fetch('/sessions', {
      method: 'POST',
      key: secret,
      headers: { 'x-console-session': '1' },
    });
    expect(signedIn.status).toBe(201);
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? '';
    const current = async () => {
      const response = await gateway.fetch('/sessions/current', {
        key: null,
        headers: { cookie, 'x-console-session': '1' },
      });
      return ((await response.json()) as { data: unknown }).data;
    };
    expect(await current()).not.toBeNull();
    await data(200, 'PATCH', `${MEMBERS}/${id}`, { disabled: true });
    expect(await current()).toBeNull();
  });

  it('cannot be made for who could not use them', async () => {
    const { id } = await added();
    await data(200, 'PATCH', `${MEMBERS}/${id}`, { disabled: true });
    expect(await ask('POST', '/keys', { name: 'x', creator_user_id: id })).toMatchObject({
      status: 400,
      body: {
        error: {
          message: expect.stringContaining('creator_user_id: is a member who is disabled'),
        },
      },
    });
  });

  it('need no member: any other text names somebody whom another system knows', async () => {
    const { secret, hash } = await keyOfMember('ada');
    expect(await statusWith(secret)).toBe(200);
    expect(await data(200, 'GET', `/keys/${hash}`)).not.toHaveProperty('owner_state');
  });
});

describe('the last active owner', () => {
  it('cannot be removed, disabled or demoted', async () => {
    const [first, second] = [
      await added({ role: 'org:owner' }, stranger),
      await added({ role: 'org:owner' }, stranger),
    ];
    await data(200, 'PATCH', `${MEMBERS}/${first.id}`, { role: 'org:admin' }, stranger);
    for (const [method, body] of [
      ['PATCH', { role: 'org:admin' }],
      ['PATCH', { disabled: true }],
      ['DELETE', undefined],
    ] as const) {
      expect(await ask(method, `${MEMBERS}/${second.id}`, body, stranger)).toMatchObject({
        status: 409,
        body: { error: { message: expect.stringContaining('the last active owner of the account') } },
      });
    }
    await data(200, 'PATCH', `${MEMBERS}/${first.id}`, { role: 'org:owner' }, stranger);
    expect((await ask('DELETE', `${MEMBERS}/${second.id}`, undefined, stranger)).status).toBe(200);
  });

  it('stays if two owners remove each other at once', async () => {
    const account = (await management.command('accounts.create', { name: 'two owners' })).management_key;
    const owners = [await added({ role: 'org:owner' }, account), await added({ role: 'org:owner' }, account)];
    const outcomes = await Promise.all(
      owners.map(({ id }) => ask('DELETE', `${MEMBERS}/${id}`, undefined, account)),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual([200, 409]);
  });
});

describe('members of a workspace', () => {
  const workspace = (slug: string) => data(201, 'POST', '/workspaces', { name: slug, slug });

  it('have the roles that they were given, by id or slug of the workspace', async () => {
    const { id: workspaceId } = await workspace('crew');
    const [one, two] = [await added(), await added()];
    const reply = await ask('POST', '/workspaces/crew/members/add', { user_ids: [one.id, two.id] });
    expect(reply).toMatchObject({
      status: 200,
      body: {
        added_count: 2,
        data: [{ user_id: one.id, workspace_id: workspaceId, role: 'member' }, { user_id: two.id }],
      },
    });
    expect(
      (await ask('POST', '/workspaces/crew/members/add', { user_ids: [one.id], role: 'admin' })).body,
    ).toMatchObject({
      added_count: 0,
      data: [{ id: reply.body.data[0].id, role: 'admin' }],
    });
    const roles = (await ask('GET', `/workspaces/${workspaceId}/members`)).body;
    expect(roles.total_count).toBe(2);
    expect(new Map(roles.data.map((each: JsonObject) => [each.user_id, each.role]))).toEqual(
      new Map([
        [one.id, 'admin'],
        [two.id, 'member'],
      ]),
    );
    expect(
      (await ask('POST', '/workspaces/crew/members/remove', { user_ids: [two.id, 'user_nobody'] })).body,
    ).toEqual({ removed_count: 1 });
    await ask('DELETE', `${MEMBERS}/${one.id}`);
    expect((await ask('GET', '/workspaces/crew/members')).body).toEqual({ data: [], total_count: 0 });
  });

  it('are all of the account in its default workspace', async () => {
    const auditor = await added({ role: 'org:auditor', last_name: 'Default' });
    const { body } = await ask('GET', '/workspaces/default/members?limit=100');
    expect(body.data.find((member: { user_id: string }) => member.user_id === auditor.id)).toMatchObject({
      role: 'viewer',
    });
    await ask('POST', '/workspaces/default/members/add', { user_ids: [auditor.id], role: 'admin' });
    const after = (await ask('GET', '/workspaces/default/members?limit=100')).body;
    expect(after.data.find((member: { user_id: string }) => member.user_id === auditor.id).role).toBe(
      'admin',
    );
    expect(after.total_count).toBe(body.total_count);
    expect(await ask('POST', '/workspaces/default/members/remove', { user_ids: [auditor.id] })).toMatchObject(
      {
        status: 400,
        body: { error: { message: expect.stringContaining('All members of the account are members') } },
      },
    );
  });

  it('must be members of the account', async () => {
    await workspace('closed');
    const { id } = await added({}, stranger);
    const own = await added();
    expect(await ask('POST', '/workspaces/closed/members/add', { user_ids: [own.id, id] })).toMatchObject({
      status: 400,
      body: {
        error: { message: expect.stringContaining('user_ids[1]: is not the id of a member of the account') },
      },
    });
    expect((await ask('GET', '/workspaces/closed/members')).body.total_count).toBe(0);
    expect((await ask('GET', '/workspaces/closed/members', undefined, stranger)).status).toBe(404);
  });
});

describe('signalbox members', () => {
  const command: Management['command'] = (name, input) => management.command(name, input);

  it('adds, changes, assigns and removes by address', async () => {
    await data(201, 'POST', '/workspaces', { name: 'lab', slug: 'lab' });
    const { id } = await command('members.add', { member: { email: 'kim@example.com', last_name: 'Kim' } });
    await command('members.update', { member: 'KIM@example.com', change: { role: 'org:billing' } });
    expect(
      await command('members.assign', { member: 'kim@example.com', workspace: 'lab', role: 'viewer' }),
    ).toMatchObject({
      user_id: id,
      workspace: 'lab',
      role: 'viewer',
    });
    const issued = await command('keys.create', { name: 'by command', owner: 'kim@example.com' });
    expect(issued).toMatchObject({ creator_user_id: id, owner_state: 'active' });
    expect(await command('members.list', { search: 'kim@' })).toMatchObject([
      { id, role: 'org:billing', disabled: false },
    ]);
    await command('members.update', { member: id, change: { disabled: true } });
    expect(await statusWith(issued.key)).toBe(401);
    expect(await command('members.unassign', { member: id, workspace: 'lab' })).toMatchObject({
      removed: true,
    });
    await command('members.remove', { member: 'kim@example.com' });
    await expect(command('members.remove', { member: 'kim@example.com' })).rejects.toThrow(
      'there is no member kim@example.com',
    );
  });
});
