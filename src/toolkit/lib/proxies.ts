/** The URLs of the forward proxies for http and https, with credentials; '' means none. */
export interface Proxies {
  readonly http: string;
  readonly https: string;
  /** The hosts that are reached directly, in the syntax of NO_PROXY. */
  readonly except: string;
}
