import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { countPasswordHashes } from '#test/support/password-hashes.ts';
import { choosePassword, invite } from '#test/support/people.ts';
import type { TestTenant } from '#test/support/service.ts';
import { useRestaurant } from '#test/support/shared-service.ts';

/** A password in three forms: composed letters (NFC), decomposed letters (NFD), and a mixture, as a Vietnamese keyboard writes it. */
const COMPOSED = 'Tiếng Việt đẹp, São';
const DECOMPOSED = COMPOSED.normalize('NFD');
const MIXED = COMPOSED.replace('ế', 'ê\u0301');
const FORMS = [COMPOSED, DECOMPOSED, MIXED];

const hashes = countPasswordHashes();
const { service, tenant } = await useRestaurant();

/** Invites a person, who chooses this password. @returns the e-mail of the person */
async function personWith(password: string): Promise<string> {
  const invited = await invite(service, tenant);
  const { status, text } = await choosePassword(service, invited, password);
  assert.equal(status, 200, text);
  return invited.body.person.email;
}

const signIn = (email: string, password: string) =>
  service.call('POST', '/v1/auth/token/', { json: { email, password } });
const statusOf = async (email: string, password: string) => (await signIn(email, password)).status;

describe('a password in composed and decomposed letters', () => {
  it('200: a password that a person chose in one form works in every form, but not without its accents', async () => {
    for (const chosen of FORMS) {
      const email = await personWith(chosen);
      for (const typed of FORMS) {
        assert.equal(await statusOf(email, typed), 200);
      }
      assert.equal(await statusOf(email, DECOMPOSED.replace(/\p{M}/gu, '')), 401);
    }
  });

  it('204: the current password may have another form than the stored one, and so may the new password at the next sign-in', async () => {
    const email = await personWith(COMPOSED);
    const { access_token } = (await signIn(email, DECOMPOSED)).body;
    const changed = await service.call('POST', '/v1/staff/me/password/', {
      headers: { authorization: `Bearer ${access_token}` },
      json: { current_password: DECOMPOSED, new_password: `${DECOMPOSED} 2` },
    });
    assert.equal(changed.status, 204, changed.text);
    assert.deepEqual([await statusOf(email, `${COMPOSED} 2`), await statusOf(email, COMPOSED)], [200, 401]);
  });

  it('401: a wrong password, an unknown e-mail and a disabled person cost one hash each', async () => {
    await signIn('nobody@nowhere.example', 'makes the decoy hash');
    const disabled = await personWith(COMPOSED);
    await service.database.db.updateTable('app_user').set('is_active', false).where('email', '=', disabled).execute();
    const email = await personWith('quite another password');
    for (const password of [...FORMS, 'only ASCII letters']) {
      for (const account of [email, disabled, 'nobody@nowhere.example']) {
        const earlier = hashes.count;
        assert.equal(await statusOf(account, password), 401);
        assert.equal(hashes.count - earlier, 1, `${account} ${password}`);
      }
    }
  });

  it('400: the length of a password is the number of its composed letters; 200: 1,024 letters are accepted in both forms', async () => {
    const invited = await invite(service, tenant);
    for (const count of [11, 1_025]) {
      assert.equal((await choosePassword(service, invited, 'é'.repeat(count).normalize('NFD'))).status, 400);
    }
    const longest = 'é'.repeat(1_024);
    assert.equal((await choosePassword(service, invited, longest.normalize('NFD'))).status, 200);
    const { email } = invited.body.person;
    assert.deepEqual([await statusOf(email, longest), await statusOf(email, longest.normalize('NFD'))], [200, 200]);
    assert.equal(await statusOf(email, `${longest}é`), 400);
  });
});

describe('a password in a tenant document', () => {
  const ownerOf = (document: TestTenant['document'], password: string) => ({
    ...document,
    users: [{ email: `owner@${document.slug}.example`, role: 'owner' as const, password }],
  });

  it('the password works in every form, and a document with another form of it changes nothing', async () => {
    const { document } = await service.tenant();
    const email = `owner@${document.slug}.example`;
    await service.apply(ownerOf(document, DECOMPOSED));
    for (const form of FORMS) {
      assert.equal(await statusOf(email, form), 200);
      assert.deepEqual((await service.apply(ownerOf(document, form))).changes, []);
    }
  });

  it('a password of fewer than 12 composed letters is refused', async () => {
    const { document } = await service.tenant();
    const short = 'é'.repeat(11).normalize('NFD');
    await assert.rejects(
      service.apply(ownerOf(document, short)),
      /users\.0\.password: must have at least 12 characters/,
    );
  });
});
