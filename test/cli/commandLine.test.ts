import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import packageFile from '../../package.json' with { type: 'json' }
import { runCommandLine } from '../../src/cli/commandLine.js'
import { startRawServer } from '../support/rawServer.js'
import { temporaryDirectory } from '../support/temporaryDirectory.js'

const COMMANDS = [
  ...['order', 'orders', 'history', 'policy', 'portfolio', 'key', 'wallet', 'claim', 'allowance'],
  ...['institution', 'leave', 'status', 'watch', 'attest'],
]

/** No server listens there: a command that got as far as a connection would end with 5. */
const NOWHERE = {
  TRADING_SERVER_URL: 'http://127.0.0.1:1',
  TRADING_RPC_URL: 'http://127.0.0.1:2',
  TRADING_PRIVATE_KEY: `0x${'5a'.repeat(32)}`,
  TRADING_ALLOW_UNATTESTED: 'true',
}
const [ID, KEY] = [`0x${'5a'.repeat(32)}`, `0x${'5a'.repeat(32)}`]

async function run(args: readonly string[], env: Record<string, string> = NOWHERE) {
  const texts = { stdout: '', stderr: '' }
  const code = await runCommandLine(args, {
    env,
    out: { write: (text: string) => (texts.stdout += text) },
    err: { write: (text: string) => (texts.stderr += text) },
    signal: new AbortController().signal,
  })
  return { code, ...texts }
}

describe('the command line', () => {
  it('lists its commands, also when it is given none', async () => {
    const [asked, bare] = await Promise.all([run(['--help']), run([])])
    expect([asked.code, bare.code]).toEqual([0, 2])
    for (const name of COMMANDS) expect(asked.stdout).toContain(`\n  ${name} `)
    expect(bare.stderr).toBe(
      `${asked.stdout}confidential-trading: a command is missing (usage)\n  --help lists the arguments of the command\n`,
    )
    expect(asked.stdout).toContain('Exit codes: 0 done')
  })

  it('prints the version of the package', async () => {
    const { code, stdout } = await run(['--version'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${packageFile.version}\n` })
    expect((await run(['--json', '--version'])).stdout).toBe(stdout)
  })

  it('takes --json and --quiet before the command and after it', async () => {
    const after = await run(['status', '0x12', '--json', '--quiet'])
    expect(JSON.parse(after.stderr)).toMatchObject({ error: { code: 'usage' } })
    expect(await run(['--json', '--quiet', 'status', '0x12'])).toEqual(after)
    expect(await run(['--json', 'status', '0x12', '--quiet'])).toEqual(after)
  })

  it.each(COMMANDS)('explains %s', async (name) => {
    const { code, stdout, stderr } = await run([name, '--help'], {})
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(`^Usage: confidential-trading ${name}`))
    expect(stdout).toContain('--json')
  })

  const wrong = [
    ...['nonsense', 'order buy AAPL', 'order hold AAPL 1', 'order buy aapl 1', 'order buy AAPL 0'],
    ...['order buy AAPL -- -1', 'order buy AAPL 1,000', 'order buy AAPL 0.0000001'],
    ...['order buy AAPL 1 --valid-for 90s', 'order buy AAPL 1 --valid-for 0d'],
    ...['order buy AAPL 1 --deadline 1d', 'order buy AAPL 1 --pay-by bank', 'order buy AAPL 1 --limit 0'],
    ...['order buy AAPL 1 --limit 190 --time-in-force week', 'order buy AAPL 1 --time-in-force day'],
    ...['order buy AAPL 1 --approve 0', 'order buy AAPL 1 --approve 9 --sponsored'],
    ...['order buy AAPL 1 --approve 9 --pay-by cash', 'order withdraw USDC 1 --approve 9'],
    ...['order deposit AAPL 1 --approve 9', 'allowance -5', 'order buy AAPL 1 --private-key x'],
    ...['order buy AAPL 1 --timeout 25d', 'order buy AAPL 1 --rpc ftp://x', 'order buy AAPL 1 --escrow 0x12'],
    ...['policy /absent.json', 'portfolio --portfolio-keys /absent.json', 'history --csv --json'],
    ...['orders --from-block -1', 'orders --confirmations 0', 'history --explorer ftp://x', 'key rotate'],
    ...['key import file', 'wallet 0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed', 'status 0x12'],
    ...['wallet --rpc http://192.168.0.7:8545', 'claim aapl', 'institution invite 0x12'],
    ...['leave Example --yes', 'watch weather'],
  ]
  it.each([
    ...wrong.map((line) => [line.split(' ')]),
    [['portfolio', '--rpc', `${NOWHERE.TRADING_SERVER_URL}/`]],
    [['status', ID, '--server', 'http://trading.example']],
    [['institution', 'join', ' x']],
  ])('refuses %j with 2', async (args) => {
    const { code, stdout, stderr } = await run([...args, ...(args.includes('--') ? [] : ['--json'])])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toMatch(args.includes('--') ? /\(usage\)/ : /"code":"usage"/)
  })

  it.each([
    ['TRADING_SERVER_URL', ['status'], 'TRADING_SERVER_URL'],
    ['TRADING_RPC_URL', ['portfolio'], 'TRADING_RPC_URL'],
    ['TRADING_PRIVATE_KEY', ['portfolio'], 'TRADING_PRIVATE_KEY'],
    ['TRADING_ALLOW_UNATTESTED', ['portfolio'], '--allow-unattested'],
  ])('names %s when it is missing', async (name, args, expected) => {
    const { code, stderr } = await run(args, { ...NOWHERE, [name]: '' })
    expect(code).toBe(2)
    expect(stderr).toContain(expected)
  })

  it.each([
    ['node-rate-limited', 5, 429, ''],
    ['node-rate-limited', 5, 200, '{"id":1,"error":{"code":-32005,"message":"limit exceeded"}}'],
    ['node-timeout', 5, 504, ''],
    ['node-unavailable', 5, 401, ''],
    ['unexpected-answer', 1, 200, '<html></html>'],
  ])('calls %s, with exit code %i, a node that answers %i %j', async (code, exit, status, body) => {
    const TRADING_RPC_URL = await startRawServer((_, response) => response.writeHead(status).end(body))
    const ended = await run(['portfolio', '--json'], { ...NOWHERE, TRADING_RPC_URL })
    expect(ended.code).toBe(exit)
    const message = expect.stringContaining(`the node at ${new URL(TRADING_RPC_URL).host} `)
    expect(JSON.parse(ended.stderr).error).toMatchObject({ code, message })
  })

  it('says every ten seconds that it still reads a history', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    onTestFinished(() => void vi.useRealTimers())
    const answers = ['{"id":1,"result":"0x1"}']
    const TRADING_RPC_URL = await startRawServer((_, response) => {
      const answer = answers.pop()
      if (answer === undefined) vi.advanceTimersByTime(20_000)
      response.writeHead(answer === undefined ? 500 : 200).end(answer)
    })
    const env = { ...NOWHERE, TRADING_RPC_URL, TRADING_ESCROW: `0x${'5a'.repeat(20)}` }
    const { stderr } = await run(['history'], env)
    expect(stderr).toMatch(/^reading the history\n(?:still reading the history\n){2,}confidential-trading: /)
  })

  async function keyFile(text: string, mode = 0o600): Promise<string> {
    const path = join(await temporaryDirectory(), 'key')
    await writeFile(path, text)
    await chmod(path, mode)
    return path
  }
  const withKey = (TRADING_PRIVATE_KEY: string, file: string) =>
    run(['portfolio', ...(file && ['--key-file', file])], { ...NOWHERE, TRADING_PRIVATE_KEY })

  it('takes the private key from the environment, or from a file that its owner alone can read', async () => {
    expect((await withKey(KEY, '')).code).toBe(5)
    expect((await withKey('', await keyFile(`${KEY}\n`))).code).toBe(5)
    const shared = await withKey('', await keyFile(KEY, 0o640))
    expect(shared).toMatchObject({ code: 2, stderr: expect.stringContaining('chmod 600') })
    const both = await withKey(KEY, await keyFile(KEY))
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('both given') })
    expect((await withKey('', '/absent')).code).toBe(2)
  })

  it.each([
    ['without 0x', '5a'.repeat(32)],
    ['too short', `0x${'5a'.repeat(31)}`],
    ['zero', `0x${'00'.repeat(32)}`],
    ['above the order', `0x${'ff'.repeat(32)}`],
    ['much too long', 'a'.repeat(5_000)],
  ])('takes no private key that is %s, and does not quote it', async (_, text) => {
    for (const { code, stderr } of [await withKey(text, ''), await withKey('', await keyFile(text))]) {
      expect(code).toBe(2)
      expect(stderr).not.toContain(text.slice(0, 40))
    }
  })
})
