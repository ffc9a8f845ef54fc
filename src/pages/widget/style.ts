/** The style of the widget. It is adopted by script: a host's policy may block a style element. */
export const STYLE = `
:host{color-scheme:light dark;display:inline-block;contain:content;box-sizing:border-box;width:max-content;min-width:min(14rem,100%);max-width:min(18em,100%);
padding:.7em .9em;font:var(--slotgate-font,14px/1.5 system-ui,sans-serif);font-variant-numeric:tabular-nums;
color:var(--slotgate-color,light-dark(#1b1f24,#e6e9ee));background:var(--slotgate-background,light-dark(#f6f8fa,#171b21));
border:1px solid var(--slotgate-border,light-dark(#d8dee4,#2b313a));border-radius:var(--slotgate-radius,10px)}
:host([hidden]){display:none}
:host([theme=light]){color-scheme:light}
:host([theme=dark]){color-scheme:dark}
.state{display:flex;align-items:center;gap:.5em;min-height:1.5em}
.word{font-weight:600}
.time{flex:1;width:0;overflow:hidden;white-space:nowrap;text-overflow:ellipsis;font-size:.85em}
a{color:inherit}
.dot{flex:none;box-sizing:border-box;width:.75em;height:.75em;border:2px solid;border-radius:50%;
color:var(--slotgate-muted,light-dark(#57606a,#9aa4b0))}
dl{display:flex;flex-wrap:wrap;gap:var(--slotgate-gap,.5em 1em);margin:.5em 0 0}
dl div{flex:1 0 var(--slotgate-value-width,7.2em)}
dt,dd{margin:0}
dt{font-size:.8em;white-space:nowrap;color:var(--slotgate-muted,light-dark(#57606a,#9aa4b0))}
dd{height:1.5em;font-weight:600;white-space:nowrap}
.spark{display:block;width:100%;height:2em;margin-top:.5em;color:var(--slotgate-muted,light-dark(#57606a,#9aa4b0))}
path{fill:none;stroke:currentColor;stroke-width:1.5;stroke-linejoin:round;vector-effect:non-scaling-stroke}
:host([size=line]){width:auto;min-width:0;max-width:100%;height:1.6em;padding:0 .6em;overflow:hidden;vertical-align:middle}
:host([size=line])>*{height:1.6em}
.root{display:block}
:host([size=line]) .root{display:flex;align-items:center;gap:.9em;height:100%}
:host([size=line]) dl{display:flex;flex-wrap:wrap;gap:0 .9em;height:1.6em;min-width:0;overflow:hidden;margin:0}
:host([size=line]) dl div{flex:none;display:flex;align-items:baseline;gap:.35em}
:host([size=line]) .spark{flex:none;width:5em;height:1.2em;margin:0}
:host([size=line]) .state{flex:none;white-space:nowrap}
:host([size=line]) .time{display:none}
:host([size=line]) dd{min-width:var(--slotgate-value-width,5.5em)}
:host([size=line]) .word{min-width:6.5em}
:host(:state(live)) .dot{background:currentColor;color:var(--slotgate-good,light-dark(#1a7f37,#4cc163))}
:host(:state(degraded)) .dot{background:linear-gradient(90deg,currentColor 50%,#0000 50%)}
:host(:is(:state(degraded),:state(slow),:state(restarting),:state(limited))) .dot{color:var(--slotgate-warn,light-dark(#8a5a00,#e0a83a))}
:host(:is(:state(slow),:state(stalled),:state(restarting),:state(limited),:state(offline),:state(refused))) .dot{border-radius:2px}
:host(:is(:state(stalled),:state(offline),:state(refused))) .dot{background:currentColor;color:var(--slotgate-bad,light-dark(#b3202c,#ff7b72))}
:host(:is(:state(slow),:state(stalled),:state(restarting),:state(limited),:state(offline),:state(refused))) :is(dd,.spark){opacity:.65}
.said{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
@media(forced-colors:active){.dot{forced-color-adjust:none}}`;
