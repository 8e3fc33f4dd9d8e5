{{/* What is written as a number with a unit. */}}

{{/* Thousandths of a quantity, as `250m` or `4Gi`. */}}
{{- define "signalbox.thousandths" -}}
{{- if kindIs "string" . -}}
  {{- $units := dict "m" 0.001 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 -}}
  {{- mulf 1000 (regexFind "^[0-9.]+" . | float64) (get $units (regexFind "[A-Za-z]+$" .) | default 1) | int64 -}}
{{- else -}}
  {{- mulf 1000 . | int64 -}}
{{- end -}}
{{- end -}}

{{/* Bytes of a quantity. */}}
{{- define "signalbox.bytes" -}}
{{- div (include "signalbox.thousandths" . | int64) 1000 -}}
{{- end -}}

{{/* Milliseconds of a length of time, as `1h30m`. */}}
{{- define "signalbox.millis" -}}
{{- $units := dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 -}}
{{- $sum := 0 -}}
{{- range regexFindAll "[0-9]+(ms|s|m|h)" . -1 -}}
  {{- $sum = add $sum (mul (regexFind "^[0-9]+" . | atoi) (get $units (regexFind "[a-z]+$" .))) -}}
{{- end -}}
{{- $sum -}}
{{- end -}}

{{/* Bytes that a spool takes: accounts that wait, a quarter for those that are done with and not removed yet, and 256 MiB. */}}
{{- define "signalbox.spoolBytes" -}}
{{- $bytes := int64 .Values.spool.maxBytes -}}
{{- add $bytes (div $bytes 4) 268435456 -}}
{{- end -}}

{{/* The emptyDir of a pod without a volume: (dict "root" $ "deployment" VALUES). */}}
{{- define "signalbox.dataSize" -}}
{{- if .deployment.keeps -}}
  {{- default (include "signalbox.spoolBytes" .root) .root.Values.spool.sizeLimit -}}
{{- else -}}
  64Mi
{{- end -}}
{{- end -}}

{{/* What a container gets, with disk of its node where that is not given: what it keeps there, and 256 MiB for /tmp and its log.
Pods that take more than they asked for are the first to go where a node's disk is short, and spools are full when NATS is away.
(dict "resources" VALUES "kept" BYTES) */}}
{{- define "signalbox.resources" -}}
{{- $resources := deepCopy .resources -}}
{{- $requests := $resources.requests | default dict -}}
{{- $limits := $resources.limits | default dict -}}
{{- if not (or (hasKey $requests "ephemeral-storage") (hasKey $limits "ephemeral-storage")) -}}
  {{- $mebibytes := div (add (int64 .kept) 269484031) 1048576 -}}
  {{- $_ := set $requests "ephemeral-storage" (printf "%dMi" $mebibytes) -}}
  {{- $_ := set $limits "ephemeral-storage" (printf "%dMi" (add $mebibytes 1024)) -}}
{{- end -}}
{{- dict "requests" $requests "limits" $limits | toYaml -}}
{{- end -}}
