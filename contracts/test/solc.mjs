#!/usr/bin/env node
// The compiler's command line, as far as forge needs it, over the WebAssembly of the npm package `solc`: forge would download one.
import { readFileSync } from 'node:fs'
import solc from 'solc'

console.log(
  process.argv.includes('--version')
    ? `solc, the solidity compiler commandline interface\nVersion: ${solc.version()}`
    : solc.compile(readFileSync(0, 'utf8')),
)
