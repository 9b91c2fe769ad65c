import type { MemberList } from '../../src/client/admin.js'
import type { Hex } from '../../src/client/index.js'

/** A wallet that belongs to an institution, or may join it. */
export interface Member {
  readonly address: Hex
  /** `leaving`: still a member until the departure takes effect, but cannot buy. */
  readonly state: 'admin' | 'member' | 'leaving' | 'invited'
}

/** The admin first, without former members. */
export function membersOf({ admin, members }: MemberList): Member[] {
  const others = members.flatMap(({ account: address, state }): Member[] =>
    state === 'former' || address === admin ? [] : [{ address, state }],
  )
  return [{ address: admin, state: 'admin' }, ...others]
}
