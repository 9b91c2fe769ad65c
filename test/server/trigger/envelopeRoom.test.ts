import { describe, expect, test } from 'vitest'
import { createUnopenedRoom, type RoomLimits } from '../../../src/server/trigger/envelopeQuota.js'
import { bytes32 } from '../../support/institution.js'

const A = bytes32('A')
const B = bytes32('B')
const C = bytes32('C')

function roomOf(limits: Partial<RoomLimits>) {
  return createUnopenedRoom({ maxOrders: 100, maxPerClient: 100, maxBytesPerClient: 1_000, ...limits })
}

const small = (client: string) => ({ client, bytes: 10 })

describe('room for envelopes without an escrow', () => {
  test('is there for as many orders as configured; one that is stored takes no more', () => {
    const room = roomOf({ maxOrders: 2 })
    room.take(A, small('one'))
    room.hold(B)
    expect(room.refusal(C, small('two'))).toBe('full')
    expect(room.refusal(A, small('two'))).toBeUndefined()
    room.leave(B)
    expect(room.refusal(C, small('two'))).toBeUndefined()
  })

  test("is there for as many of one client's as configured, whatever their orders", () => {
    const room = roomOf({ maxPerClient: 2 })
    room.take(A, small('one'))
    room.take(A, small('one'))
    expect(room.refusal(A, small('one'))).toBe('client-full')
    expect(room.refusal(B, small('one'))).toBe('client-full')
    expect(room.refusal(B, small('two'))).toBeUndefined()
    room.leave(A)
    expect(room.refusal(B, small('one'))).toBeUndefined()
  })

  test("is there for as many bytes of one client's as configured", () => {
    const room = roomOf({ maxBytesPerClient: 100 })
    room.take(A, { client: 'one', bytes: 60 })
    expect(room.refusal(B, { client: 'one', bytes: 41 })).toBe('client-full')
    expect(room.refusal(B, { client: 'one', bytes: 40 })).toBeUndefined()
    room.take(B, { client: 'one', bytes: 40 })
    room.leave(A)
    expect(room.refusal(C, { client: 'one', bytes: 61 })).toBe('client-full')
    expect(room.refusal(C, { client: 'one', bytes: 60 })).toBeUndefined()
  })

  test('that is given back is taken once, and only while the order is there', () => {
    const room = roomOf({ maxOrders: 1, maxPerClient: 2 })
    const giveBack = room.take(A, small('one'))
    room.take(A, small('one'))
    giveBack()
    giveBack()
    expect(room.refusal(A, small('one'))).toBeUndefined()
    room.take(A, small('one'))
    expect(room.refusal(A, small('one'))).toBe('client-full')
    room.leave(A)
    giveBack()
    const last = room.take(B, small('one'))
    expect(room.refusal(C, small('two'))).toBe('full')
    last()
    expect(room.refusal(C, small('two'))).toBeUndefined()
  })
})
