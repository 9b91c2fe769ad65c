import { describe, expect, it } from 'vitest'
import { faultsOf, type OpeningFacts, quotaFaults } from './openings.js'

const orderId = `0x${'11'.repeat(32)}` as const
const account = `0x${'a1'.repeat(20)}` as const
const relayer = `0x${'b2'.repeat(20)}` as const
const own = { purpose: { kind: 'account', account } } as const

const opened: OpeningFacts = {
  ...{ orderId, signed: { account, isTaken: true }, isPlaced: true },
  ...{ openers: [relayer], records: [own] },
}
const found = (changes: Partial<OpeningFacts>) =>
  faultsOf({ ...opened, ...changes }, relayer).map((fault) => fault.replace(`the opening of ${orderId} `, ''))

describe('an opening', () => {
  it('is right when the relayer has opened its order once, on its account’s quota', () => {
    expect(found({})).toEqual([])
  })

  it('may come to nothing where no server has taken it', () => {
    const signed = { account, isTaken: false }
    expect(found({ signed, isPlaced: false, openers: [], records: [] })).toEqual([])
  })

  it.each<[string, Partial<OpeningFacts>]>([
    ['was opened 2 times', { openers: [relayer, relayer] }],
    ['is not open', { openers: [], records: [] }],
    ['was taken and is lost', { isPlaced: false, openers: [], records: [] }],
    ['was given up by its account, and opened all the same', { isPlaced: false }],
    [`was opened by ${account}`, { openers: [account] }],
    ['has 0 records of the relay', { records: [] }],
    ['has 2 records of the relay', { records: [own, own] }],
    ['is paid for by the platform', { records: [{ purpose: { kind: 'platform' } }] }],
    [`is paid for by ${relayer}`, { records: [{ purpose: { kind: 'account', account: relayer } }] }],
  ])('is found out where it %s', (fault, changes) => {
    expect(found(changes)).toEqual([fault])
  })
})

describe('a quota', () => {
  const day = 20_000
  const at = new Date(day * 86_400_000).toISOString()
  const receipt = { gasUsed: 100_000n, createdAt: at } as const
  const counted = (gas: bigint, others: object = {}) =>
    quotaFaults([{ ...own, receipt }], {
      ...{ day, holders: [{ holder: account, gas }] },
      ...others,
    })

  it('may count more gas than was used, and hardly less', () => {
    expect(counted(300_000n)).toEqual([])
    expect(counted(95_000n)).toEqual([])
    expect(counted(94_999n)).toEqual([`the quota of ${account} counts 94999 gas of 100000`])
    expect(counted(0n, { holders: [] })).toEqual([`the quota of ${account} counts 0 gas of 100000`])
  })

  it('of another day says nothing', () => {
    expect(counted(0n, { day: day + 1 })).toEqual([])
  })
})
