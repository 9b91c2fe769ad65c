import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { temporaryDirectory } from '../../support/temporaryDirectory.js'
import { chromiumPath } from './chromium.js'

/** MiniBrowser of WebKitGTK has no place in `PATH`, and draws in a window. */
const MINI_BROWSER = '/usr/lib/*/webkit2gtk-4.*/MiniBrowser'

/** How each engine's browser is started, with its profile in a directory that is there. */
const COMMANDS = {
  Chromium: (profile: string) => [chromiumPath(process.env), '--no-sandbox', `--user-data-dir=${profile}`],
  Firefox: (profile: string) => ['firefox-esr', '--headless', '--no-remote', '--profile', profile],
  WebKit: () => ['xvfb-run', '-a', found(MINI_BROWSER)],
} satisfies Record<string, (profile: string) => string[]>

export type BrowserName = keyof typeof COMMANDS

function found(pattern: string): string {
  const [path] = globSync(pattern)
  if (path === undefined)
    throw new Error(`${pattern} is missing. On Debian: apt-get install -y webkit2gtk-driver xvfb`)
  return path
}

/** Starts a browser at an address, as a person does: nothing drives it, and it ends with its test. */
export async function startBrowser(name: BrowserName, url: string): Promise<void> {
  const home = await temporaryDirectory()
  const [program = '', ...given] = COMMANDS[name](home)
  const child = spawn(program, [...given, url], {
    // A group of its own: a browser is many processes.
    detached: true,
    stdio: 'ignore',
    env: { PATH: process.env.PATH, HOME: home, MOZ_CRASHREPORTER_DISABLE: '1' },
  })
  const started = new Promise<number>((resolve, reject) => {
    child.once('spawn', () => resolve(child.pid ?? 0)).once('error', reject)
  })
  const group = -(await started)
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    process.kill(group, 'SIGKILL')
    await ended
  })
}
