/** Whether the page is built for the sandbox: vite.config.ts. */
declare const IS_SANDBOX: boolean
