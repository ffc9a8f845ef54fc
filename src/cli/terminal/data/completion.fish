# fish completion of slotgate
function __slotgate_at
  set -l at ''
  set -l before ''
  for word in (commandline -opc)[2..]
    switch "$before"
      case {{valued}}
        set before ''
        continue
    end
    switch "$at $word"
      case {{commands}}
        set at (string trim -- "$at $word")
    end
    set before "$word"
  end
  test "$at" = "$argv"
end
complete -c slotgate -f
{{words}}
