import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request as requestHttp } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { readPartnerConfig } from '#platform/config.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { callReceiver, createServiceCaller } from './http.ts';

const TIMEOUT_MS = 10_000;

async function portOf(t: TestContext, server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => void server.close());
  return (server.address() as AddressInfo).port;
}

/** Starts a proxy that notes the target of each call, also of each tunnel (CONNECT). */
async function startProxy(t: TestContext) {
  const targets: string[] = [];
  const server = createServer((incoming, response) => {
    targets.push(incoming.url ?? '');
    const { method, headers } = incoming;
    requestHttp(incoming.url ?? '', { method, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    }).end();
  });
  server.on('connect', (incoming, client: Socket) => {
    targets.push(incoming.url ?? '');
    const [host = '', port] = (incoming.url ?? '').split(':');
    const upstream = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
  });
  t.after(() => server.closeAllConnections());
  return { url: `http://127.0.0.1:${await portOf(t, server)}`, targets };
}

async function startPlain(t: TestContext): Promise<URL> {
  const server = createServer((_request, response) => response.end('{}'));
  t.after(() => server.closeAllConnections());
  return new URL(`http://127.0.0.1:${await portOf(t, server)}/v1/events/`);
}

function configOf(url: URL, environment: Record<string, string>) {
  const credential = { ROOMSERVICE_API_KEY: 'rsk_a', ROOMSERVICE_API_SECRET: 'rss_b', HOME: '/tmp' };
  return readPartnerConfig({ url: url.origin }, { ...credential, ...environment });
}

const get = { method: 'GET', headers: {}, timeoutMs: TIMEOUT_MS } as const;

/** Calls the service once, with a proxy in the environment. Returns the status or the reason of a failure. */
async function callVia(url: URL, environment: Record<string, string>): Promise<number | string> {
  const answer = await createServiceCaller(configOf(url, environment))({ ...get, url });
  return 'failure' in answer ? answer.failure : answer.status;
}

describe('the calls of listen and the proxy variables', () => {
  it('calls of an http and of an https service go through the proxy that the variables name, in capital or small letters', async (t) => {
    const plain = await startPlain(t);
    const secure = await startReceiver();
    t.after(() => secure.close());
    for (const [url, names, target] of [
      [plain, ['HTTP_PROXY', 'http_proxy'], plain.href],
      [new URL(secure.url), ['HTTPS_PROXY', 'https_proxy'], `127.0.0.1:${secure.port}`],
    ] as const) {
      for (const name of names) {
        const proxy = await startProxy(t);
        assert.ok(Number(await callVia(url, { [name]: proxy.url })) < 300, name);
        assert.deepEqual(proxy.targets, [target], name);
      }
    }
  });

  it('calls of the service use no proxy if NO_PROXY names its host, or if the proxy cannot reach it', async (t) => {
    const plain = await startPlain(t);
    const proxy = await startProxy(t);
    for (const environment of [
      { HTTP_PROXY: proxy.url, NO_PROXY: 'example.com,127.0.0.1' },
      { http_proxy: proxy.url, no_proxy: '*' },
      { HTTPS_PROXY: proxy.url },
      { HTTP_PROXY: 'http://proxy.example:3128' },
    ]) {
      assert.equal(await callVia(plain, environment), 200, JSON.stringify(environment));
    }
    assert.deepEqual(proxy.targets, []);
  });

  it('a faulty proxy variable is refused with a message that names it', () => {
    for (const proxy of ['socks5://127.0.0.1:1080', 'proxy', '127.0.0.1:3128']) {
      const read = () => configOf(new URL('https://service.example'), { HTTPS_PROXY: proxy });
      assert.throws(read, /^OperatorError: HTTPS_PROXY must be the URL of a proxy/, proxy);
    }
  });

  it('requests to the server of the developer use no proxy', async (t) => {
    const plain = await startPlain(t);
    const proxy = await startProxy(t);
    process.env['HTTP_PROXY'] = proxy.url;
    t.after(() => delete process.env['HTTP_PROXY']);
    assert.deepEqual(await callReceiver({ ...get, url: plain }), { status: 200 });
    assert.deepEqual(proxy.targets, []);
  });
});

describe('the responses that listen reads', () => {
  it("a developer's server without TLS behind an https URL gives EPROTO, for which listen prints a hint", async (t) => {
    const { port } = await startPlain(t);
    assert.deepEqual(await callReceiver({ ...get, url: new URL(`https://127.0.0.1:${port}/`) }), { failure: 'EPROTO' });
  });

  for (const [what, response, expected] of [
    ['an unexpected 100', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n', 204],
    ['20 KiB of headers', `HTTP/1.1 404 Not Found\r\nx-a: ${'a'.repeat(20_480)}\r\n`, 404],
    ['a folded header', 'HTTP/1.1 200 OK\r\nx-folded: a\r\n b\r\n', 200],
    ['no status line', 'hello\r\n', 'unreadable_response: Parse Error: Expected HTTP/, RTSP/ or ICE/'],
    [
      'a change of protocol',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n',
      'the response changes the protocol',
    ],
  ] as const) {
    it(`from the service and from the developer's server, listen reads ${expected} in a response with ${what}`, async (t) => {
      const port = await portOf(
        t,
        createTcpServer((socket) => socket.on('error', () => {}).once('data', () => socket.end(`${response}\r\n`))),
      );
      const url = new URL(`http://127.0.0.1:${port}/`);
      const answer = await callReceiver({ ...get, url });
      assert.equal('failure' in answer ? answer.failure : answer.status, expected);
      assert.equal(await callVia(url, {}), expected);
    });
  }
});
