# fish completion of slotgate
function __slotgate_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case {{commands}}
        set at (string trim -- "$at $word")
    end
  end
  test "$at" = "$argv"
end
complete -c slotgate -f
{{words}}
