// Random steps of wallets in and out of institutions, and a model of their outcomes.

import fc from 'fast-check'

/** All have KYC. At first each is in no institution. */
export const WALLETS = ['alice', 'bob', 'carol', 'dave', 'admin'] as const
export type Wallet = (typeof WALLETS)[number]
export const INSTITUTIONS = ['Acme Capital', 'Borealis'] as const

/** An institution is named by its index. */
export type Action =
  | { kind: 'found' | 'join' | 'accept'; wallet: Wallet; institution: number }
  | { kind: 'admit'; by: Wallet | 'owner'; wallet: Wallet; institution: number; on: boolean }
  | { kind: 'invite' | 'remove'; by: Wallet; wallet: Wallet }
  | { kind: 'propose'; by: Wallet; to: Wallet | null }
  | { kind: 'leave' | 'buy' | 'request'; wallet: Wallet }

/** An action, and how many seconds after the one before. */
export interface Step {
  action: Action
  elapsed: number
}

const STEPS = 60
// Some more often than others, so that much happens to one wallet.
const wallet = fc.constantFrom<Wallet>('alice', 'alice', 'alice', 'bob', 'bob', 'carol', 'dave', 'admin')
const institution = fc.nat({ max: INSTITUTIONS.length - 1 })
// Admins are mostly these two, so that most of what an admin does succeeds.
const admin = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom<Wallet>('admin', 'dave') },
  { weight: 1, arbitrary: wallet },
)
const kind = <K extends string>(name: K) => fc.constant(name)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: kind('found'), wallet: admin, institution }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: kind('admit'),
      by: fc.oneof({ weight: 8, arbitrary: kind('owner') }, { weight: 1, arbitrary: wallet }),
      wallet: admin,
      institution,
      on: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 16, arbitrary: fc.record({ kind: kind('invite'), by: admin, wallet }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('remove'), by: admin, wallet }) },
  { weight: 20, arbitrary: fc.record({ kind: kind('join'), wallet, institution }) },
  { weight: 10, arbitrary: fc.record({ kind: kind('leave'), wallet }) },
  {
    weight: 5,
    arbitrary: fc.record({ kind: kind('propose'), by: admin, to: fc.option(wallet, { freq: 6 }) }),
  },
  { weight: 5, arbitrary: fc.record({ kind: kind('accept'), wallet, institution }) },
  { weight: 18, arbitrary: fc.record({ kind: kind('buy'), wallet }) },
  { weight: 4, arbitrary: fc.record({ kind: kind('request'), wallet }) },
)

const ADMINS = ['admin', 'dave'] as const
const inARow = (...actions: Action[]): Step[] => actions.map((one) => ({ action: one, elapsed: 1 }))
/** Admitted, and alice and bob invited. */
const inUse = (institution: number): Step[] => {
  const by = ADMINS[institution] ?? 'admin'
  return inARow(
    { kind: 'found', wallet: by, institution },
    { kind: 'admit', by: 'owner', wallet: by, institution, on: true },
    { kind: 'invite', by, wallet: 'alice' },
    { kind: 'invite', by, wallet: 'bob' },
  )
}
const ONE_IN_USE = inUse(0)
const BOTH_IN_USE = [...ONE_IN_USE, ...inUse(1)]

/**
 * Steps in a row that single steps seldom make: proposed by one institution and a member of
 * the other, proposed while it leaves, an admin for a moment, and buying for one institution after the other.
 */
const scenes: readonly Step[][] = (['alice', 'bob', 'carol'] as const).flatMap((to) => [
  inARow(
    ...ADMINS.map((by): Action => ({ kind: 'remove', by, wallet: to })),
    ...ADMINS.map((by): Action => ({ kind: 'propose', by, to })),
    { kind: 'invite', by: ADMINS[0], wallet: to },
    { kind: 'join', wallet: to, institution: 0 },
    { kind: 'accept', wallet: to, institution: 1 },
  ),
  inARow(
    ...ADMINS.map((by): Action => ({ kind: 'remove', by, wallet: to })),
    { kind: 'propose', by: ADMINS[1], to },
    { kind: 'accept', wallet: to, institution: 1 },
    { kind: 'propose', by: to, to: ADMINS[1] },
    { kind: 'accept', wallet: ADMINS[1], institution: 1 },
  ),
  inARow(
    ...ADMINS.map((by): Action => ({ kind: 'invite', by, wallet: to })),
    ...INSTITUTIONS.map((_, institution): Action => ({ kind: 'join', wallet: to, institution })),
    { kind: 'leave', wallet: to },
    ...ADMINS.map((by): Action => ({ kind: 'propose', by, to })),
  ),
  inARow(
    ...ADMINS.map((by): Action => ({ kind: 'remove', by, wallet: to })),
    ...ADMINS.flatMap((by, institution): Action[] => [
      { kind: 'invite', by, wallet: to },
      { kind: 'join', wallet: to, institution },
      { kind: 'buy', wallet: to },
      { kind: 'remove', by, wallet: to },
    ]),
  ),
])

/** Mostly soon after one another; now and then around the very second when a leaving ends. */
export function steps(leaveDelay: number): fc.Arbitrary<Step[]> {
  const elapsed = fc.oneof(
    { weight: 24, arbitrary: fc.integer({ min: 1, max: 3_600 }) },
    { weight: 2, arbitrary: fc.integer({ min: 3_600, max: leaveDelay }) },
    { weight: 5, arbitrary: fc.constantFrom(leaveDelay - 1, leaveDelay, leaveDelay + 1) },
  )
  const one = fc.record({ action, elapsed }).map((step) => [step])
  const part = fc.oneof({ weight: 25, arbitrary: one }, { weight: 1, arbitrary: fc.constantFrom(...scenes) })
  const start = fc.constantFrom([], [], ONE_IN_USE, ONE_IN_USE, BOTH_IN_USE, BOTH_IN_USE, BOTH_IN_USE)
  return fc
    .tuple(start, fc.array(part, { minLength: STEPS, maxLength: STEPS }))
    .map(([first, parts]) => [...first, ...parts.flat().slice(0, STEPS)])
}

interface Institution {
  admin: Wallet | null
  admitted: boolean
  invited: Set<Wallet>
  proposed: Wallet | null
}

interface Membership {
  institution: number
  /** Unix seconds at which it ends by itself. */
  endsAt: number | null
}

/**
 * Returns a function that takes the steps in their order and returns each one's outcome: the name of the revert, null
 * for success. The first step's `elapsed` counts from `time`.
 */
export function createModel(time: number, leaveDelay: number): (step: Step) => string | null {
  let now = time
  const institutions = INSTITUTIONS.map(
    (): Institution => ({ admin: null, admitted: false, invited: new Set(), proposed: null }),
  )
  const memberships = new Map<Wallet, Membership>()
  const foundings = new Map<Wallet, number>()

  function at(index: number): Institution {
    const found = institutions[index]
    if (!found) throw new RangeError(`there is no institution ${index}`)
    return found
  }

  function membershipOf(wallet: Wallet): Membership | null {
    const found = memberships.get(wallet)
    return found && (found.endsAt === null || now < found.endsAt) ? found : null
  }

  function administeredBy(wallet: Wallet): number | null {
    const found = membershipOf(wallet)
    return found && at(found.institution).admin === wallet ? found.institution : null
  }

  function enter(wallet: Wallet, institution: number): null {
    memberships.set(wallet, { institution, endsAt: null })
    foundings.delete(wallet)
    at(institution).invited.delete(wallet)
    return null
  }

  function withdrawProposal(institution: Institution, wallet: Wallet): null {
    if (institution.proposed === wallet) institution.proposed = null
    return null
  }

  function found(wallet: Wallet, institution: number): string | null {
    if (at(institution).admin) return 'InstitutionTaken'
    if (membershipOf(wallet)) return 'AlreadyInInstitution'
    foundings.set(wallet, institution)
    return null
  }

  function admit({ by, wallet, institution, on }: Extract<Action, { kind: 'admit' }>): string | null {
    const one = at(institution)
    if (by !== 'owner') return 'NotOwner'
    if (one.admin === null) {
      if (!on) return 'NotAdmitted'
      if (foundings.get(wallet) !== institution) return 'NotFounded'
      one.admin = wallet
      enter(wallet, institution)
    } else if (one.admin !== wallet) return 'InstitutionTaken'
    one.admitted = on
    return null
  }

  function invite(by: Wallet, wallet: Wallet): string | null {
    const institution = administeredBy(by)
    if (institution === null) return 'NotAdmin'
    if (membershipOf(wallet)) return 'AlreadyInInstitution'
    at(institution).invited.add(wallet)
    return null
  }

  function remove(by: Wallet, wallet: Wallet): string | null {
    const institution = administeredBy(by)
    if (institution === null) return 'NotAdmin'
    const isMember = wallet !== by && membershipOf(wallet)?.institution === institution
    if (isMember) memberships.delete(wallet)
    else if (!at(institution).invited.delete(wallet)) return 'NotMember'
    return withdrawProposal(at(institution), wallet)
  }

  function join(wallet: Wallet, institution: number): string | null {
    if (membershipOf(wallet)) return 'AlreadyInInstitution'
    if (!at(institution).invited.has(wallet)) return 'NotInvited'
    return enter(wallet, institution)
  }

  function leave(wallet: Wallet): string | null {
    const membership = membershipOf(wallet)
    if (!membership) return 'NotMember'
    if (administeredBy(wallet) !== null) return 'AdminCannotLeave'
    if (membership.endsAt !== null) return 'Leaving'
    membership.endsAt = now + leaveDelay
    return withdrawProposal(at(membership.institution), wallet)
  }

  function propose(by: Wallet, to: Wallet | null): string | null {
    const institution = administeredBy(by)
    if (institution === null) return 'NotAdmin'
    const membership = to === null ? null : membershipOf(to)
    if (to === by || (membership && membership.institution !== institution)) return 'AlreadyInInstitution'
    if (membership && membership.endsAt !== null) return 'Leaving'
    at(institution).proposed = to
    return null
  }

  function accept(wallet: Wallet, institution: number): string | null {
    const one = at(institution)
    if (one.proposed !== wallet) return 'NotPendingAdmin'
    const membership = membershipOf(wallet)
    if (membership && membership.institution !== institution) return 'AlreadyInInstitution'
    one.proposed = null
    one.admin = wallet
    return membership ? null : enter(wallet, institution)
  }

  function buy(wallet: Wallet): string | null {
    const membership = membershipOf(wallet)
    if (!membership || !at(membership.institution).admitted) return 'NotAdmitted'
    return membership.endsAt === null ? null : 'Leaving'
  }

  return ({ action, elapsed }) => {
    now += elapsed
    switch (action.kind) {
      case 'found':
        return found(action.wallet, action.institution)
      case 'admit':
        return admit(action)
      case 'invite':
        return invite(action.by, action.wallet)
      case 'remove':
        return remove(action.by, action.wallet)
      case 'join':
        return join(action.wallet, action.institution)
      case 'leave':
        return leave(action.wallet)
      case 'propose':
        return propose(action.by, action.to)
      case 'accept':
        return accept(action.wallet, action.institution)
      case 'buy':
        return buy(action.wallet)
      case 'request':
        return null
    }
  }
}
