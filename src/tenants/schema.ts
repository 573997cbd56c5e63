import Type from 'typebox';

export const Feature = Type.Enum(['restaurant', 'hotel'], { type: 'string' });
export type Feature = 'restaurant' | 'hotel';

export const Role = Type.Enum(['owner', 'staff'], { type: 'string' });
export type Role = 'owner' | 'staff';

export const SignInRequest = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 254 }),
  password: Type.String({ minLength: 1, maxLength: 1024 }),
});

export const SignInResponse = Type.Object({
  access_token: Type.String(),
  token_type: Type.Enum(['Bearer'], { type: 'string' }),
  expires_in: Type.Integer({ description: 'seconds' }),
  role: Role,
  tenant: Type.Object({ id: Type.Integer(), name: Type.String(), features: Type.Array(Feature) }),
});
export type SignInResponse = Type.Static<typeof SignInResponse>;
