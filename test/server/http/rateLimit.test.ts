import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientOf, createClientRateLimit } from '../../../src/server/http/rateLimit.js'

const MINUTE_MS = 60_000

/** A limiter of two reads a minute unless told otherwise, and a clock that the test moves. */
function setUp(limitPerMinute = 2) {
  let now = 1_000_000
  const limit = createClientRateLimit(limitPerMinute, () => now)
  const pass = (ms: number) => {
    now += ms
  }
  return {
    pass,
    look: (ip: string) => limit.ask(clientOf(ip), 1),
    ask(ip: string, cost = 1) {
      const allowance = limit.ask(clientOf(ip), cost)
      if (!allowance.isExceeded) limit.spend(clientOf(ip), cost)
      return allowance
    },
    giveBack: (ip: string) => limit.giveBack(clientOf(ip), 1),
  }
}

describe('the client rate', () => {
  test('stands in the headers of every answer', () => {
    const { ask, pass } = setUp()
    expect(ask('192.0.2.1').headers).toEqual({
      'RateLimit-Policy': '"default";q=2;w=60',
      RateLimit: '"default";r=1;t=60',
    })
    pass(20_500)
    expect(ask('192.0.2.1')).toMatchObject({
      isExceeded: false,
      headers: { RateLimit: '"default";r=0;t=40' },
    })
  })

  test('refuses no longer when the clock is set back by an hour', () => {
    const now = Date.now
    let setBackBy = 0
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() - setBackBy)
    onTestFinished(() => clock.mockRestore())
    const limit = createClientRateLimit(1)
    limit.ask('a client', 1)
    limit.spend('a client', 1)
    setBackBy = 3_600_000
    const { isExceeded, secondsLeft } = limit.ask('a client', 1)
    expect(isExceeded).toBe(true)
    expect(secondsLeft).toBeLessThanOrEqual(60)
  })

  test('refuses until the minute that began with the first request is over', () => {
    const { ask, pass } = setUp()
    ask('192.0.2.1')
    pass(MINUTE_MS - 1)
    ask('192.0.2.1')
    expect(ask('192.0.2.1')).toMatchObject({ isExceeded: true, secondsLeft: 1 })
    pass(1)
    expect(ask('192.0.2.1')).toMatchObject({
      isExceeded: false,
      headers: { RateLimit: '"default";r=1;t=60' },
    })
  })

  test('counts what was spent, not what was asked, and refuses once nothing is left', () => {
    const { ask, look } = setUp(15)
    for (let n = 0; n < 100; n++) expect(look('192.0.2.1').isExceeded).toBe(false)
    expect(ask('192.0.2.1', 10)).toMatchObject({ headers: { RateLimit: '"default";r=5;t=60' } })
    expect(ask('192.0.2.1', 10)).toMatchObject({
      isExceeded: false,
      headers: { RateLimit: '"default";r=0;t=60' },
    })
    expect(look('192.0.2.1').isExceeded).toBe(true)
  })

  test('paces who asks faster than the rate, by one for each request, until it is within ten seconds of it', () => {
    const { look, pass } = setUp(60_000)
    for (let n = 0; n < 10_000; n++) expect(look('192.0.2.1').pauseMs).toBeCloseTo(0)
    expect(look('192.0.2.1').pauseMs).toBeCloseTo(1)
    expect(look('192.0.2.1').pauseMs).toBeCloseTo(2)
    expect(look('192.0.2.2').pauseMs).toBe(0)
    pass(3)
    expect(look('192.0.2.1').pauseMs).toBeCloseTo(0)
    for (let n = 0; n < 100_000; n++) look('192.0.2.1')
    expect(look('192.0.2.1').pauseMs).toBeCloseTo(MINUTE_MS)
    pass(MINUTE_MS + 1)
    expect(look('192.0.2.1').pauseMs).toBeCloseTo(0)
  })

  test('paces no one in the first thousand requests, however low the rate', () => {
    const { look } = setUp(1)
    for (let n = 0; n < 1_000; n++) expect(look('192.0.2.1').pauseMs).toBeCloseTo(0)
    expect(look('192.0.2.1').pauseMs).toBeCloseTo(MINUTE_MS)
  })

  test('allows an IPv6 /48 what four clients may spend, and refuses its fifth client', () => {
    const { ask, look } = setUp(10)
    const nets = ['100', '200', '300', '400'].map((net) => `2001:db8:1:${net}::1`)
    for (const net of nets) expect(ask(net, 10).isExceeded).toBe(false)
    expect(look('2001:db8:1:500::1').isExceeded).toBe(true)
    expect(look('2001:db8:2:100::1').isExceeded).toBe(false)
  })

  test('counts no longer what is given back, and never below nothing', () => {
    const { ask, giveBack } = setUp()
    for (let n = 0; n < 3; n++) giveBack('192.0.2.1')
    for (let n = 0; n < 5; n++) {
      expect(ask('192.0.2.1')).toMatchObject({ headers: { RateLimit: '"default";r=1;t=60' } })
      for (let again = 0; again < 2; again++) giveBack('192.0.2.1')
    }
  })

  test.each([
    ['192.0.2.1', '192.0.2.2'],
    ['2001:db8:0:100::1', '2001:db8:0:200::1'],
    ['', '192.0.2.1'],
  ])('counts %j and %j apart', (one, other) => {
    const { ask } = setUp()
    ask(one)
    ask(one)
    expect(ask(one).isExceeded).toBe(true)
    expect(ask(other)).toMatchObject({ isExceeded: false, headers: { RateLimit: '"default";r=1;t=60' } })
  })

  test.each([
    ['an IPv6 network of /56', '2001:db8:0:100::1', '2001:db8:0:1ff:ffff::2'],
    ['the same address in two spellings', '2001:DB8::1', '2001:db8:0:0:0:0:0:1'],
    ['IPv4 written as IPv6', '192.0.2.1', '::ffff:192.0.2.1'],
  ])('counts %s as one', (_name, one, other) => {
    const { ask } = setUp()
    ask(one)
    expect(ask(other)).toMatchObject({ headers: { RateLimit: '"default";r=0;t=60' } })
  })
})
