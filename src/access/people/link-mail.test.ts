import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { choosePassword, invite, newEmail, PEOPLE, tokenOf } from '#test/support/people.ts';
import { startService, type TestService, type TestTenant } from '#test/support/service.ts';
import { CONSOLE } from '#test/support/sessions.ts';
import { type MailServer, startMailServer } from '#test/support/smtp.ts';
import { eventually } from '#test/support/webhooks.ts';
import { readConfig } from '#platform/config.ts';

const PUBLIC_URL = 'https://rooms.example';

let mailServer: MailServer;
let service: TestService;
let tenant: TestTenant;
const logLines: string[] = [];
before(async () => {
  mailServer = await startMailServer();
  service = await startMailing(mailServer.url);
  tenant = await service.tenant({ name: 'Müller’s House' });
});
after(async () => {
  await service.close();
  await mailServer.close();
});

/**
 * Starts a service that sends its mails to the mail server at `url`, and adds its log lines to `logLines`. If `beside` is given, the new
 * service is a second node on the database of `beside`.
 */
async function startMailing(url: string, beside?: TestService): Promise<TestService> {
  const { mail, publicUrl } = readConfig({ SMTP_URL: url, MAIL_FROM: 'House <house@mail.example>', PUBLIC_URL });
  const onLog = (line: string) => void logLines.push(line);
  return await startService({ config: { mail, publicUrl }, onLog, ...(beside === undefined ? {} : { beside }) });
}

describe('mails of invitations and password resets', () => {
  it('201, 200: an invitation and a password reset each send the person a mail with the link; an invitation also names the tenant and the day the link ends', async () => {
    const email = newEmail();
    const invited = await invite(service, tenant, { email, name: 'Buy at http://evil.example' });
    assert.equal(invited.status, 201);
    const [invitation] = await mailServer.waitFor(1);
    assert.ok(invitation);
    assert.deepEqual([invitation.to, invitation.from], [[email], 'house@mail.example']);
    assert.ok(invitation.text.includes(`${PUBLIC_URL}/console/#invite=${tokenOf(invited)}\n`), invitation.text);
    assert.match(invitation.text, /Müller’s House invites you[^]+The link works once, until \d+ \w+ 20\d\d/);
    assert.ok(!invitation.text.includes('evil.example'));
    assert.equal((await choosePassword(service, invited)).status, 200);
    const path = `${PEOPLE}${invited.body.person.id}/reset/`;
    const reset = await service.call('POST', path, { headers: tenant.owner });
    assert.equal(reset.status, 200);
    const [, mail] = await mailServer.waitFor(2);
    assert.deepEqual(mail?.to, [email]);
    assert.ok(mail?.text.includes(reset.body.reset_url), mail?.text);
    assert.equal((await choosePassword(service, reset, 'one more password')).status, 200);
  });

  it('409: a refused invitation sends no mail', async () => {
    const sent = mailServer.mails.length;
    const email = `owner@${tenant.document.slug}.example`;
    assert.equal((await invite(service, tenant, { email })).status, 409);
    await invite(service, tenant);
    await mailServer.waitFor(sent + 1);
    assert.ok(mailServer.mails.slice(sent).every(({ to }) => !to.includes(email)));
  });

  it('201: while the mail server is unreachable or hangs, an invitation gets its link in the response, which does not wait for the mail, and the log has no link and no e-mail address', async () => {
    const hanging = await startMailServer({ answer: 'hang' });
    const closings = [];
    for (const url of ['smtp://house:hunter2@127.0.0.1:1', hanging.url]) {
      const node = await startMailing(url, service);
      const startMs = performance.now();
      const answer = await invite(node, tenant);
      assert.equal(answer.status, 201);
      assert.ok(performance.now() - startMs < 15_000);
      const { id, email } = answer.body.person;
      const hasFailed = () =>
        logLines.some((line) => line.includes('could not be sent') && line.includes(`"user_id":"${id}"`));
      if (url === hanging.url) {
        // The service gives up only after 20 s without a byte from the mail server. So the mail is still under way after the response.
        assert.equal(hasFailed(), false);
      } else {
        await eventually(hasFailed, 'line in the log');
      }
      const text = logLines.join('');
      assert.ok(!text.includes(tokenOf(answer)) && !text.includes(email) && !text.includes('hunter2'));
      assert.equal((await choosePassword(node, answer)).status, 200);
      closings.push(node.close());
    }
    await hanging.close();
    await Promise.all(closings);
  });

  it('if calls that choose a password with an invitation link succeed or are refused, no log line contains the link token, the password or the session cookie', async () => {
    const invited = await invite(service, tenant);
    const token = tokenOf(invited);
    const json = { token, new_password: 'hunter2 hunter2' };
    const refused = [
      await service.call('POST', '/v1/auth/password/', { json }),
      await service.call('POST', '/v1/auth/password/', {
        headers: CONSOLE,
        json: { ...json, new_password: token.slice(0, 5) },
      }),
      await service.call('POST', '/v1/auth/password/', { headers: CONSOLE, json: { token } }),
    ];
    const accepted = await service.call('POST', '/v1/auth/password/', { headers: CONSOLE, json });
    assert.equal(accepted.status, 200);
    const again = await service.call('POST', '/v1/auth/password/', { headers: CONSOLE, json });
    assert.deepEqual(
      [...refused, again].map(({ status }) => status),
      [400, 400, 400, 401],
    );
    const cookie = /=([\w-]{64})/.exec(accepted.headers.getSetCookie()[0] ?? '')?.[1] ?? '';
    assert.equal(cookie.length, 64);
    await eventually(() => logLines.some((line) => line.includes('/v1/auth/password/')), 'line in the log');
    const texts = [...logLines, ...refused.map(({ text }) => text), again.text].join('\n');
    for (const secret of [token, 'hunter2', cookie]) {
      assert.ok(!texts.includes(secret));
    }
  });
});
